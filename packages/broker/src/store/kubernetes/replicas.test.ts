import { LEASES } from "@resource-broker/kube";
import { clusterOf, fakeClock, until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import type { StoreFailure } from "../store.ts";
import { LEDGER } from "./segment.ts";
import { faultyClient } from "./testing/faulty-client.ts";
import { useServer } from "./testing/servers.ts";
import { simulatedServer, type TestLedger } from "./testing/test-ledger.ts";

const { server, newLedger, replica } = useServer(simulatedServer);

/** Two replicas of one ledger with two commits, made by the first, which still believes that it leads. */
async function succeeded() {
  const ledger = await newLedger();
  const faulty = faultyClient();
  const grants = new Grants();
  const old = replica(ledger, { replica: "old", through: faulty.through });
  const young = replica(ledger, { replica: "young" });
  await old.open();
  await grants.commit(old, 2);
  const lost: StoreFailure[] = [];
  old.leadership.onLost((failure) => void lost.push(failure));
  const succeed = async () => {
    await ledger.expireLease();
    return young.open();
  };
  return { ledger, faulty, grants, old, young, lost, succeed };
}

describe("of several replicas", () => {
  it("those that start at once make one ledger, and one of them leads", async () => {
    const ledger = await newLedger();
    const stores = Array.from({ length: 6 }, (_, number) =>
      replica(ledger, { replica: `replica-${number}` }),
    );
    await Promise.all(stores.map((store) => store.leadership.prepare()));
    const opened = await Promise.allSettled(stores.map((store) => store.open()));
    expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(stores.filter(({ leadership }) => leadership.state().role === "leader")).toHaveLength(1);
  });

  it("one leads, the others stand by, know who it is and follow at once when it ends", async () => {
    const ledger = await newLedger();
    const [first, second] = [replica(ledger, { replica: "rome" }), replica(ledger, { replica: "oslo" })];
    expect(first.leadership.state()).toEqual({ role: "standby", leader: "" });
    await first.open();
    await second.leadership.prepare();
    const won = second.leadership.acquire();
    const seen = () => {
      const state = second.leadership.state();
      return Promise.resolve(("leader" in state && state.leader) || undefined);
    };
    expect(await until("the leader is known", seen)).toBe("rome");
    expect(first.leadership.state()).toEqual({ role: "leader" });
    await first.close();
    expect(await won).toBe(true);
    expect(second.leadership.state()).toEqual({ role: "leader" });
    expect([first, second].map(({ leadership }) => leadership.predecessor())).toEqual(["", "rome"]);
  });

  it("one that waits can be closed", async () => {
    const ledger = await newLedger();
    await replica(ledger).open();
    const second = replica(ledger);
    const won = second.leadership.acquire();
    await second.close();
    expect(await won).toBe(false);
  });

  it("one is followed when it has been silent for as long as its lease, by the other's own clock", async () => {
    const ledger = await newLedger();
    const [still, moving] = [fakeClock(), fakeClock()];
    const first = replica(ledger, { clock: still, leaseMs: 2000 });
    await first.open();
    const second = replica(ledger, { clock: moving, leaseMs: 2000 });
    let hasWon = false;
    const won = second.leadership.acquire().then((isWon) => (hasWon = isWon));
    await until("it has looked", () =>
      Promise.resolve(second.leadership.state().role === "standby" || undefined),
    );
    await moving.advance(1500);
    expect(hasWon).toBe(false);
    await until("it has won", async () => {
      await moving.advance(100);
      return hasWon || undefined;
    });
    await won;
  });
});

describe("a deposed leader", () => {
  it("can write nothing, is told so, and finds out by itself", async () => {
    const { ledger, grants, old, young, lost, succeed } = await succeeded();
    await succeed();
    const batch = grants.next();
    await young.commit(batch);
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed", message: /young/ });
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed" });
    expect(lost).toEqual([expect.objectContaining({ kind: "deposed" })]);
    expect(old.leadership.state()).toEqual({ role: "deposed", leader: "young" });
    await old.saveAdvertisements([
      { advertisement: clusterOf("oslo", 1), receivedAt: 1, replacedInstances: [] },
    ]);
    await old.close();
    expect(young.leadership.state()).toEqual({ role: "leader" });
    expect(await young.lastCommit()).toBe(3);
    await young.close();
    const { records } = await replica(ledger).open();
    expect(records.advertisements.map(({ advertisement }) => advertisement.clusterId)).not.toContain("oslo");
  });

  it("can write nothing even before its successor has written anything", async () => {
    const { grants, old, young, succeed } = await succeeded();
    await succeed();
    const batch = grants.next();
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed", message: /young/ });
    await young.commit(batch);
    expect(await young.lastCommit()).toBe(3);
  });

  it.each([
    { fate: "answer-lost", last: 3 },
    { fate: "never-sent", last: 2 },
  ] as const)("finds out what became of its last commit ($fate)", async ({ fate, last }) => {
    const { faulty, grants, old, succeed } = await succeeded();
    const batch = grants.next();
    faulty.plan(fate);
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    expect((await succeed()).commitNumber).toBe(last);
    expect(await old.lastCommit()).toBe(last);
    await expect(old.commit(grants.next())).rejects.toMatchObject({ kind: "deposed" });
  });

  it("whose commit arrives late has not made it", async () => {
    const { faulty, grants, old, young, succeed } = await succeeded();
    const batch = grants.next();
    faulty.plan("late");
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    await succeed();
    expect(await faulty.arrive()).toBe(false);
    expect(await old.lastCommit()).toBe(2);
    await young.commit(batch);
  });

  it("acknowledges what its successor has found, though the client heard a conflict", async () => {
    const { faulty, grants, old, young, ledger } = await succeeded();
    const batch = grants.next();
    const own = faulty.through(ledger.client);
    const third = replica(ledger, {
      replica: "third",
      through: () => ({
        ...own,
        update: async (resource, object, options) => {
          const written = await own.update(resource, object, options);
          if (resource.plural !== "configmaps" || !JSON.stringify(object).includes('commitNumber\\":3'))
            return written;
          await ledger.expireLease();
          await young.open();
          return own.update(resource, object, options);
        },
      }),
    });
    await old.close();
    await third.open();
    await third.commit(batch);
    expect(third.leadership.state()).toMatchObject({ role: "deposed", leader: "young" });
    expect(await young.lastCommit()).toBe(3);
  });
});

describe("the lease", () => {
  const leaseOf = ({ client, namespace }: TestLedger) => client.get(LEASES, { name: LEDGER, namespace });

  it("is renewed, and says who leads in words that kubectl shows", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    await replica(ledger, { clock, replica: "rome", leaseMs: 6000 }).open();
    const before = await leaseOf(ledger);
    expect(before.spec).toMatchObject({ leaseDurationSeconds: 6, leaseTransitions: 0 });
    expect(before.spec?.holderIdentity).toMatch(/^rome_/);
    await until("it is renewed", async () => {
      await clock.advance(1000);
      return (await leaseOf(ledger)).spec?.renewTime !== before.spec?.renewTime || undefined;
    });
  });

  it("that cannot be renewed is not believed any more, and is again when it can", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    const store = replica(ledger, { clock, leaseMs: 6000 });
    await store.open();
    server().faults.pause();
    await clock.advance(5999);
    expect(store.leadership.state()).toEqual({ role: "leader" });
    await clock.advance(1);
    expect(store.leadership.state()).toEqual({ role: "unsure" });
    server().faults.resume();
    await until("it has renewed", async () => {
      await clock.advance(100);
      return store.leadership.state().role === "leader" || undefined;
    });
  });

  it("of a machine that was suspended is not believed before the API server was asked", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    const sleeper = replica(ledger, { clock, leaseMs: 6000, replica: "sleeper" });
    await sleeper.open();
    const isA = (role: string) => async () => sleeper.leadership.state().role === role || undefined;
    // Its monotonic clock and its timers stood still, and nobody took over.
    clock.jumpWall(600_000);
    expect(sleeper.leadership.state()).toEqual({ role: "unsure" });
    await until("it leads again", isA("leader"));
    clock.jumpWall(600_000);
    await ledger.expireLease();
    await replica(ledger, { replica: "other" }).open();
    expect(sleeper.leadership.state()).toEqual({ role: "unsure" });
    await until("it knows", isA("deposed"));
  });

  it("deleted by hand is made again by whoever leads", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    const store = replica(ledger, { clock, leaseMs: 3000 });
    await store.open();
    await ledger.client.delete(LEASES, { name: LEDGER, namespace: ledger.namespace });
    await until("it is back", async () => {
      await clock.advance(200);
      return ledger.client.find(LEASES, { name: LEDGER, namespace: ledger.namespace });
    });
    await clock.advance(2999);
    await until("it is renewed", async () => {
      await clock.advance(100);
      return store.leadership.state().role === "leader" || undefined;
    });
    expect(await leaseOf(ledger)).toMatchObject({ spec: { leaseTransitions: 0 } });
  });

  it("that was another's meanwhile, and is free again, does not make a leader of one who slept", async () => {
    const ledger = await newLedger();
    const clock = fakeClock();
    const grants = new Grants();
    const sleeper = replica(ledger, { clock, leaseMs: 3000, replica: "sleeper" });
    await sleeper.open();
    await ledger.expireLease();
    const other = replica(ledger, { replica: "other" });
    await other.open();
    await grants.commit(other, 1);
    await other.close();
    await until("it knows", async () => {
      await clock.advance(500);
      return sleeper.leadership.state().role === "deposed" || undefined;
    });
    await expect(sleeper.commit(grants.next())).rejects.toMatchObject({ kind: "deposed", message: /other/ });
  });
});

describe("advertisements", () => {
  const received = (receivedAt: number) => ({
    advertisement: clusterOf("paris", receivedAt),
    receivedAt,
    replacedInstances: [],
  });
  const commitOf = (number: number, receivedAt: number) => ({
    number,
    at: 0,
    entries: [],
    advertisements: [received(receivedAt)],
  });

  it("that were committed are there for a successor, though nothing was written behind", async () => {
    const ledger = await newLedger();
    const old = replica(ledger);
    await old.open();
    await old.saveAdvertisements([received(9)]);
    await old.commit(commitOf(1, 5));
    await ledger.expireLease();
    const { records } = await replica(ledger).open();
    expect(records.advertisements).toEqual([received(5)]);
  });

  it("of a leader that was replaced do not replace what its successor committed, whatever its clock says", async () => {
    const ledger = await newLedger();
    const old = replica(ledger);
    await old.open();
    await ledger.expireLease();
    const young = replica(ledger);
    await young.open();
    await young.commit(commitOf(1, 5));
    await young.close();
    await old.saveAdvertisements([received(9)]);
    await old.close();
    const { records } = await replica(ledger).open();
    expect(records.advertisements).toEqual([received(5)]);
  });

  it("of a leader that was replaced do not hide newer ones", async () => {
    const ledger = await newLedger();
    const old = replica(ledger);
    await old.open();
    await ledger.expireLease();
    const young = replica(ledger);
    await young.open();
    await young.saveAdvertisements([received(5)]);
    await young.close();
    // It does not know yet that it was replaced, and ends in good order.
    await old.saveAdvertisements([received(3)]);
    await old.close();
    const { records } = await replica(ledger).open();
    expect(records.advertisements).toEqual([received(5)]);
  });
});
