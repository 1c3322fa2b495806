import { type Clock, Fault } from "@resource-broker/base";
import { type FakeClock, fakeClock, type SeededRandom, seededRandom } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import type { KubeClient } from "../client/client.ts";
import { type Lease, LEASES } from "../resource/resources.ts";
import { type FakeConnection, type FakeKube, fakeKube } from "../testing/fake-kube-client.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { type LeaderElectionOptions, leaderElection } from "./leader-election.ts";

const NAME = { namespace: "broker", name: "agent" };

/** A machine whose wall clock is wrong by `wallMs` and whose clocks run `rate` times as fast as they should. */
function skewed(time: FakeClock, { wallMs, rate }: { wallMs: number; rate: number }): Clock {
  return {
    wallMs: () => time.wallMs() + wallMs,
    monotonicMs: () => Math.floor(time.monotonicMs() * rate) + 77_777,
    after: (delayMs, action) => time.after(Math.ceil(delayMs / rate), action),
  };
}

interface Replica {
  readonly identity: string;
  readonly link: FakeConnection;
  readonly election: ReturnType<typeof leaderElection>;
  /** What it believes. */
  readonly leads: () => boolean;
  readonly story: string[];
  readonly lines: string[];
}

interface ReplicaOptions extends Partial<LeaderElectionOptions> {
  readonly clock?: Clock;
  /** How long its work goes on after it should have ended. */
  readonly dyingMs?: number;
  /** Its link, where it is an earlier one's. */
  readonly link?: FakeConnection;
}

function replica(
  kube: FakeKube,
  time: FakeClock,
  { clock = time, dyingMs = 0, ...options }: ReplicaOptions = {},
): Replica {
  const { identity = "a", link = kube.connect() } = options;
  const story: string[] = [];
  const log = recordedLog();
  let isWorking = false;
  const at = () => Math.round(time.monotonicMs() - 1000);
  const election = leaderElection(
    {
      ...NAME,
      identity,
      onLead: async (signal) => {
        story.push(`${at()} leads`);
        isWorking = true;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        if (dyingMs > 0) await new Promise<void>((resolve) => time.after(dyingMs, resolve));
        isWorking = false;
        story.push(`${at()} has ended`);
      },
      onLose: () => story.push(`${at()} loses`),
      ...options,
    },
    { client: link.client, clock, random: () => 0, log },
  );
  election.start();
  return { identity, link, election, story, lines: log.lines, leads: () => isWorking || election.isLeader() };
}

function world() {
  const time = fakeClock();
  const kube = fakeKube({ clock: time });
  const lease = (): Lease | undefined => kube.store.find(LEASES, NAME);
  return { time, kube, lease };
}

describe("leader election", () => {
  test("leaves the lease to others only after the work has ended, and holds it until then", async () => {
    const { time, kube } = world();
    const a = replica(kube, time, { dyingMs: 60_000 });
    const b = replica(kube, time, { identity: "b" });
    await time.advance(1000);
    const stopped = a.election.stop();
    await time.advance(59_000);
    expect(b.leads()).toBe(false);
    await time.advance(5000);
    await stopped;
    expect(b.leads()).toBe(true);
  });

  test("takes the lease of a leader that has vanished, when it was not renewed for its duration", async () => {
    const { time, kube, lease } = world();
    const a = replica(kube, time);
    const b = replica(kube, time, { identity: "b" });
    await time.advance(1000);
    expect(a.story).toEqual(["0 leads"]);
    a.link.down();
    await time.advance(14_000);
    expect(b.leads()).toBe(false);
    await time.advance(5000);
    expect(b.leads()).toBe(true);
    expect(lease()?.spec).toMatchObject({ holderIdentity: "b", leaseTransitions: 1 });
  });

  test("waits as long as the lease says, also when its own duration is shorter, and acquireTime is that of the term", async () => {
    const { time, kube, lease } = world();
    const a = replica(kube, time, { leaseMs: 60_000 });
    await time.advance(1000);
    const { acquireTime, renewTime } = lease()?.spec ?? {};
    await time.advance(30_000);
    expect(lease()?.spec).toMatchObject({ acquireTime });
    expect(lease()?.spec?.renewTime).not.toBe(renewTime);
    const b = replica(kube, time, { identity: "b" });
    await time.advance(1000);
    a.link.down();
    await time.advance(45_000);
    expect(b.leads()).toBe(false);
    await time.advance(25_000);
    expect(b.leads()).toBe(true);
  });

  test("outlives an API server that is away for a moment, or hangs", async () => {
    const { time, kube } = world();
    const a = replica(kube, time);
    await time.advance(5000);
    a.link.down();
    await time.advance(6000);
    a.link.up();
    await time.advance(5000);
    a.link.pause();
    await time.advance(2500);
    a.link.resumeWithoutStreams();
    await time.advance(60_000);
    expect(a.story).toEqual(["0 leads"]);
    expect(a.lines.filter((line) => line.startsWith("warn"))).toHaveLength(2);
  });

  test("continues leading when only the answers are lost, or others touch the lease", async () => {
    const { time, kube, lease } = world();
    const a = replica(kube, time);
    await time.advance(1000);
    a.link.failNext({ verb: "update", isDone: true, fault: new Fault("unreachable", "reset") });
    await time.advance(10_000);
    kube.store.update(LEASES, { ...lease(), touched: true });
    await time.advance(60_000);
    expect(a.story).toEqual(["0 leads"]);
    expect(lease()).toMatchObject({ touched: true, spec: { leaseTransitions: 0 } });
  });

  test("ends at once when somebody else has taken the lease by force", async () => {
    const { time, kube, lease } = world();
    const a = replica(kube, time);
    await time.advance(1000);
    kube.store.update(LEASES, { ...lease(), spec: { ...lease()?.spec, holderIdentity: "admin" } });
    await time.advance(2000);
    expect(a.leads()).toBe(false);
    expect(a.lines.at(-1)).toBe("info lost leadership: admin holds the lease");
  });

  test("makes a lease again that somebody deleted", async () => {
    const { time, kube, lease } = world();
    const a = replica(kube, time);
    await time.advance(1000);
    kube.store.delete(LEASES, NAME);
    await time.advance(5000);
    expect(a.story).toEqual(["0 leads"]);
    expect(lease()?.spec?.holderIdentity).toBe("a");
  });

  test("steps down when its work fails, so that another one can try", async () => {
    const { time, kube } = world();
    const a = replica(kube, time, { onLead: () => Promise.reject(new Error("no disk")) });
    const b = replica(kube, time, { identity: "b" });
    await time.advance(10_000);
    expect(a.lines).toContain("error the leader's work failed");
    expect(a.election.isLeader()).toBe(false);
    expect(b.leads()).toBe(true);
  });

  test("does not lead on an answer that it heard too late, as after being frozen", async () => {
    const { time, kube } = world();
    const link = kube.connect();
    let frozenMs = 0;
    const create: KubeClient["create"] = async (resource, object, options) => {
      const lease = await link.client.create(resource, object, options);
      frozenMs = 12_000;
      return lease;
    };
    const a = replica(kube, time, {
      link: { ...link, client: { ...link.client, create } },
      clock: { ...time, monotonicMs: () => time.monotonicMs() + frozenMs },
    });
    await time.advance(1);
    expect(a.story).toEqual([]);
    await time.advance(5000);
    expect(a.leads()).toBe(true);
  });

  test("leads no more, by the clock, before any timer says so", async () => {
    const { time, kube } = world();
    let frozenMs = 0;
    const a = replica(kube, time, { clock: { ...time, monotonicMs: () => time.monotonicMs() + frozenMs } });
    await time.advance(1);
    frozenMs = 10_000;
    expect(a.election.isLeader()).toBe(false);
  });

  test.each([
    ["retries as seldom as it must renew", { retryMs: 10_000 }],
    ["renews as late as others take over", { renewWithinMs: 15_000 }],
  ])("refuses a setting that %s", (_, options) => {
    const { time, kube } = world();
    expect(() => replica(kube, time, options)).toThrow("retryMs < renewWithinMs < leaseMs");
  });
});

describe("leader election among machines whose clocks differ", () => {
  const SEED = Number(process.env["SEED"] ?? 7);

  /** One thing that happens to one replica. */
  const accident = (random: SeededRandom, { link }: Replica): void => {
    const accidents = [
      link.down,
      link.up,
      link.up,
      link.cut,
      link.pause,
      link.resume,
      link.resumeWithoutStreams,
    ];
    random.pick(accidents)?.();
    if (random.chance(0.2))
      link.failNext({ isDone: random.chance(0.5), fault: new Fault("unreachable", "lost") });
  };

  test(`never has two leaders, and always finds one again (SEED=${SEED})`, async () => {
    const random = seededRandom(SEED);
    const time = fakeClock();
    const kube = fakeKube({ clock: time, latencyMs: () => random.below(400) });
    const clocks = [
      { wallMs: 0, rate: 1 },
      { wallMs: 3_600_000, rate: 1.1 },
      { wallMs: -86_400_000, rate: 0.9 },
    ];
    const replicas = clocks.map((clock, index) =>
      replica(kube, time, { identity: `replica-${index}`, clock: skewed(time, clock) }),
    );
    const leaders = () => replicas.filter((each) => each.leads()).map(({ identity }) => identity);
    const seen = new Set<string>();
    for (let round = 0; round < 60; round++) {
      for (let step = 0; step < 40; step++) {
        if (random.chance(0.2)) accident(random, random.pick(replicas) ?? (replicas[0] as Replica));
        await time.advance(random.between(1, 1500));
        expect({ round, leaders: leaders().length }).toEqual({
          round,
          leaders: Math.min(1, leaders().length),
        });
        for (const leader of leaders()) seen.add(leader);
      }
      for (const { link } of replicas) {
        link.clearFailures();
        link.resume();
        link.up();
      }
      for (let second = 0; second < 45; second++) {
        await time.advance(1000);
        expect(leaders().length).toBeLessThanOrEqual(1);
      }
      expect({ round, leaders: leaders().length }).toEqual({ round, leaders: 1 });
    }
    expect(seen.size).toBe(3);
    const stopped = Promise.all(replicas.map(({ election }) => election.stop()));
    await time.advance(10_000);
    await stopped;
    expect(leaders()).toEqual([]);
  });
});
