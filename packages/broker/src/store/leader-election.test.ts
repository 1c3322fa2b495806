import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { leaderElector, type LeaseAdapter, leaseTime } from "./common/leader-elector.ts";
import { kubernetesLease } from "./kubernetes/kubernetes-lease.ts";
import { memoryKube } from "./kubernetes/testing/memory-kube.ts";
import { type LeaseRow, postgresLease } from "./postgres/postgres-lease.ts";
import type { Session } from "./postgres/session.ts";

const LEASE_MS = 6000;
const ANSWER_MS = 2000;
const CANDIDATE = { instance: "1", name: "rome" };

/** The store receives a call at once, and its answer arrives late. */
function lateAnswers() {
  const clock = fakeClock();
  const late = async <T>(answer: Promise<T>): Promise<T> => {
    const value = await answer;
    await clock.advance(ANSWER_MS);
    return value;
  };
  return { clock, late };
}

function onKubernetes() {
  const { clock, late } = lateAnswers();
  const { client } = memoryKube();
  const { tryAcquireOrRenew } = kubernetesLease({
    client: {
      ...client,
      find: (...call) => late(client.find(...call)),
      create: (...call) => late(client.create(...call)),
      update: (...call) => late(client.update(...call)),
    },
    namespace: "broker",
    clock,
    candidate: CANDIDATE,
    leaseMs: LEASE_MS,
  });
  return { clock, tryAcquire: tryAcquireOrRenew, renew: tryAcquireOrRenew };
}

function onPostgres() {
  const { clock, late } = lateAnswers();
  const header = { ledgerId: "", commitNumber: 0, time: 0 };
  const row: Pick<LeaseRow, "tryAcquire" | "renew"> = {
    tryAcquire: () => late(Promise.resolve(1)),
    renew: () => late(Promise.resolve(header as Awaited<ReturnType<LeaseRow["renew"]>>)),
  };
  const lease = postgresLease({
    row: row as LeaseRow,
    connection: { use: (work) => work({} as Session), close: () => Promise.resolve() },
    candidate: CANDIDATE,
    leaseMs: LEASE_MS,
    clock,
  });
  return { clock, tryAcquire: lease.tryAcquire, renew: lease.renew };
}

describe.each([
  ["kubernetes", onKubernetes],
  ["postgres", onPostgres],
])("a lease in %s counts from before the call was sent, however late the answer arrives", (_, open) => {
  it("when it is acquired and when it is renewed", async () => {
    const { clock, tryAcquire, renew } = open();
    const first = leaseTime(clock);
    expect(await tryAcquire()).toEqual({ isHeld: true, sentAt: first, wasHeld: false });
    const second = leaseTime(clock);
    expect(second.monotonicMs).toBeGreaterThan(first.monotonicMs);
    expect(await renew()).toEqual({ isHeld: true, sentAt: second, wasHeld: true });
  });
});

/** An elector that leads; `fail` makes the next renewals fail. */
async function leading() {
  const clock = fakeClock();
  const calls: string[] = [];
  let failures = 0;
  const held = async () => ({ isHeld: true, sentAt: leaseTime(clock), wasHeld: true }) as const;
  const lease: LeaseAdapter = {
    server: "the test",
    tryAcquire: held,
    poll: held,
    renew: async () => {
      calls.push(`renew at ${clock.monotonicMs() - startMs}`);
      if (failures-- > 0) throw new Error("the store does not answer");
      return held();
    },
    release: async () => void calls.push("release"),
  };
  const elector = leaderElector({ lease, leaseMs: LEASE_MS, clock, onError: String });
  const startMs = clock.monotonicMs();
  await elector.tryLead();
  return {
    clock,
    calls,
    elector,
    fail: (count: number) => {
      failures = count;
    },
  };
}

describe("a leader", () => {
  it("renews three times per lease, and in half that time after a failure: two failures do no harm", async () => {
    const { clock, calls, elector, fail } = await leading();
    fail(2);
    await clock.advance(6500);
    expect(calls).toEqual(["renew at 2000", "renew at 3000", "renew at 4000", "renew at 6000"]);
    expect(elector.state()).toEqual({ role: "leader" });
  });

  it("does not renew a lease that a commit has just renewed", async () => {
    const { clock, calls, elector } = await leading();
    await clock.advance(1000);
    elector.renewed(leaseTime(clock));
    await clock.advance(2999);
    expect(calls).toEqual([]);
    await clock.advance(1);
    expect(calls).toEqual(["renew at 4000"]);
  });

  it("gives the lease back when it ends, unless another one has it", async () => {
    const [ending, deposed] = [await leading(), await leading()];
    await ending.elector.release();
    await ending.clock.advance(LEASE_MS);
    expect(ending.calls).toEqual(["release"]);
    deposed.elector.markLost("oslo");
    await deposed.elector.release();
    await deposed.clock.advance(LEASE_MS);
    expect(deposed.calls).toEqual([]);
    expect(deposed.elector.state()).toEqual({ role: "deposed", leader: "oslo" });
  });
});
