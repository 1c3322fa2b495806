import type { Clock } from "@resource-broker/base";
import { clusterOf, fakeClock, until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import type { StoreFailure } from "../../store.ts";
import type { ReplicatedStore } from "../leader-elector.ts";
import { Grants } from "./grants.ts";

interface ReplicaOptions {
  readonly replica?: string;
  readonly clock?: Clock;
  readonly leaseMs?: number;
}

/** A new ledger, and the replicas that share it. */
export interface SharedLedger {
  readonly connect: (options?: ReplicaOptions) => ReplicatedStore;
  /** A replica whose next commits end as planned. */
  readonly faulty: (options?: ReplicaOptions) => {
    readonly store: ReplicatedStore;
    readonly plan: (...faults: readonly ("answer-lost" | "never-sent")[]) => void;
  };
  /** A replica whose server can stop answering. */
  readonly pausable: (options: ReplicaOptions) => Promise<{
    readonly store: ReplicatedStore;
    readonly pause: () => void;
    readonly resume: () => void;
  }>;
  /** Takes the lease away from whoever holds it, as the end of its time would. */
  readonly expireLease: () => Promise<void>;
}

/** What every store promises that several replicas share. */
export function replicaSuite(newLedger: () => Promise<SharedLedger>): void {
  const roleOf = ({ leadership }: ReplicatedStore) => leadership.state().role;
  const untilRole = (store: ReplicatedStore, role: string) =>
    until(`it is ${role}`, async () => roleOf(store) === role || undefined);

  /** A ledger with two commits of a leader that can be replaced. */
  async function succeeded() {
    const ledger = await newLedger();
    const grants = new Grants();
    const { store: old, plan } = ledger.faulty({ replica: "old" });
    const young = ledger.connect({ replica: "young" });
    await old.open();
    await grants.commit(old, 2);
    const succeed = async () => {
      await ledger.expireLease();
      return young.open();
    };
    return { ledger, grants, old, young, plan, succeed };
  }

  describe("of several replicas", () => {
    it("those that start at once make one ledger, and one of them leads", async () => {
      const ledger = await newLedger();
      const stores = Array.from({ length: 6 }, (_, index) => ledger.connect({ replica: `r-${index}` }));
      await Promise.all(stores.map((store) => store.leadership.prepare()));
      const opened = await Promise.allSettled(stores.map((store) => store.open()));
      expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(stores.filter((store) => roleOf(store) === "leader")).toHaveLength(1);
    });

    it("one leads, the others stand by, know who it is and follow at once when it ends", async () => {
      const ledger = await newLedger();
      const [first, second] = [ledger.connect({ replica: "rome" }), ledger.connect({ replica: "oslo" })];
      expect(first.leadership.state()).toEqual({ role: "standby", leader: "" });
      await first.open();
      await second.leadership.prepare();
      const won = second.leadership.acquire();
      await until("the leader is known", async () => {
        const state = second.leadership.state();
        return ("leader" in state && state.leader === "rome") || undefined;
      });
      expect(roleOf(first)).toBe("leader");
      await first.close();
      expect(await won).toBe(true);
      expect(roleOf(second)).toBe("leader");
      expect([first, second].map(({ leadership }) => leadership.predecessor())).toEqual(["", "rome"]);
    });

    it("one that waits can be closed", async () => {
      const ledger = await newLedger();
      await ledger.connect().open();
      const second = ledger.connect();
      const won = second.leadership.acquire();
      await second.close();
      expect(await won).toBe(false);
    });
  });

  describe("a deposed leader", () => {
    it("can write nothing, is told so, and finds out by itself", async () => {
      const { ledger, grants, old, young, succeed } = await succeeded();
      const lost: StoreFailure[] = [];
      old.leadership.onLost((failure) => void lost.push(failure));
      await succeed();
      const batch = grants.next();
      await young.commit(batch);
      const message = expect.stringContaining("young");
      await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed", message });
      await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed" });
      expect(lost).toEqual([expect.objectContaining({ kind: "deposed" })]);
      expect(old.leadership.state()).toEqual({ role: "deposed", leader: "young" });
      const received = { advertisement: clusterOf("oslo", 1), receivedAt: 1, replacedInstances: [] };
      await old.saveAdvertisements([received]).catch(() => undefined);
      await old.close();
      expect(roleOf(young)).toBe("leader");
      expect(await young.lastCommit()).toBe(3);
      await young.close();
      const { records } = await ledger.connect().open();
      const advertised = records.advertisements.map(({ advertisement }) => advertisement.clusterId);
      expect(advertised).not.toContain("oslo");
    });

    it("can write nothing even before its successor has written anything", async () => {
      const { grants, old, young, succeed } = await succeeded();
      await succeed();
      const batch = grants.next();
      await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed" });
      await young.commit(batch);
      expect(await young.lastCommit()).toBe(3);
    });

    it.each([
      { fault: "answer-lost", last: 3 },
      { fault: "never-sent", last: 2 },
    ] as const)(
      "finds out what became of its last commit ($fault), though others follow",
      async ({ fault, last }) => {
        const { grants, old, young, plan, succeed } = await succeeded();
        const batch = grants.next();
        plan(fault);
        await expect(old.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
        expect((await succeed()).commitNumber).toBe(last);
        for (const number of [last + 1, last + 2]) await young.commit({ ...batch, number, entries: [] });
        for (const _ of ["first", "second"]) expect(await old.lastCommit()).toBe(last);
        await expect(old.commit(grants.next())).rejects.toMatchObject({ kind: "deposed" });
      },
    );
  });

  it.each([
    { fault: "answer-lost", last: 3 },
    { fault: "never-sent", last: 2 },
  ] as const)("a commit of unknown outcome ($fault) is settled by its number", async ({ fault, last }) => {
    const { grants, old, plan } = await succeeded();
    const batch = grants.next();
    plan(fault);
    await expect(old.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
    expect(await old.lastCommit()).toBe(last);
    if (last === 2) await old.commit(batch);
    await old.commit(grants.next());
    expect(await old.lastCommit()).toBe(4);
  });

  describe("a lease", () => {
    it("that cannot be renewed is not believed any more, and is again when it can", async () => {
      const clock = fakeClock();
      const { store, pause, resume } = await (await newLedger()).pausable({ clock, leaseMs: 6000 });
      await store.open();
      pause();
      await clock.advance(5999);
      expect(roleOf(store)).toBe("leader");
      await clock.advance(1);
      expect(roleOf(store)).toBe("unsure");
      resume();
      await until("it has renewed", async () => {
        await clock.advance(100);
        return roleOf(store) === "leader" || undefined;
      });
    });

    it("of a machine that was suspended is not believed before the server was asked", async () => {
      const ledger = await newLedger();
      const clock = fakeClock();
      const sleeper = ledger.connect({ clock, leaseMs: 6000, replica: "sleeper" });
      await sleeper.open();
      // Its monotonic clock and its timers stood still, and nobody took over.
      clock.jumpWall(600_000);
      expect(roleOf(sleeper)).toBe("unsure");
      await untilRole(sleeper, "leader");
      clock.jumpWall(600_000);
      await ledger.expireLease();
      await ledger.connect({ replica: "other" }).open();
      expect(roleOf(sleeper)).toBe("unsure");
      await untilRole(sleeper, "deposed");
    });
  });
}
