import {
  fakeClock,
  postgresPrograms,
  STORE_PROMISES,
  startFaultyProxy,
  until,
} from "@resource-broker/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import type { StoreFailure } from "../store.ts";
import { SCHEMA_VERSION } from "./schema.ts";
import { faultySessions } from "./testing/faulty-sessions.ts";
import { ledgers } from "./testing/ledgers.ts";
import { testLedger } from "./testing/stores.ts";

describe.skipIf(!postgresPrograms().isThere)("on a real PostgreSQL", () => {
  const { newLedger, replica, server } = ledgers();

  describe("the postgres store passes the conformance suite of a store", () => {
    const makeStore = () => Promise.resolve(testLedger(server()));
    it.each(STORE_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(makeStore)).resolves.toBeUndefined();
    });
  });

  describe("of several replicas", () => {
    it("those that start at once on an empty database make one ledger", async () => {
      const ledger = newLedger();
      const stores = Array.from({ length: 6 }, () => replica(ledger));
      await Promise.all(stores.map((store) => store.leadership.prepare()));
      expect(await ledger.psql("SELECT count(*) FROM S.lease")).toBe("1");
      expect(await ledger.psql("SELECT count(*) FROM S.migration")).toBe(String(SCHEMA_VERSION));
    });

    it("one leads, the others stand by and know who it is", async () => {
      const ledger = newLedger();
      const [first, second] = [replica(ledger, { replica: "rome" }), replica(ledger, { replica: "oslo" })];
      expect(first.leadership.state()).toEqual({ role: "standby", leader: "" });
      await first.open();
      await second.leadership.prepare();
      const won = second.leadership.acquire();
      const seen = () =>
        Promise.resolve(second.leadership.state()).then(
          (now) => ("leader" in now && now.leader) || undefined,
        );
      expect(await until("the leader is known", seen)).toBe("rome");
      expect(first.leadership.state()).toEqual({ role: "leader" });
      await first.close();
      expect(await won).toBe(true);
      expect(second.leadership.state()).toEqual({ role: "leader" });
      expect([first, second].map(({ leadership }) => leadership.predecessor())).toEqual(["", "rome"]);
    });

    it("one that waits can be closed", async () => {
      const ledger = newLedger();
      await replica(ledger).open();
      const second = replica(ledger);
      await second.leadership.prepare();
      const won = second.leadership.acquire();
      await second.close();
      expect(await won).toBe(false);
    });

    it("a deposed one can write nothing, is told so, and finds out by itself", async () => {
      const ledger = newLedger();
      const grants = new Grants();
      const [old, young] = [replica(ledger, { replica: "old" }), replica(ledger, { replica: "young" })];
      await old.open();
      await grants.commit(old, 2);
      const lost: StoreFailure[] = [];
      old.leadership.onLost((failure) => void lost.push(failure));
      await ledger.expireLease();
      await young.open();
      const batch = grants.next();
      await young.commit(batch);

      await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed", message: /young/ });
      await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed" });
      expect(lost).toEqual([expect.objectContaining({ kind: "deposed" })]);
      expect(old.leadership.state()).toEqual({ role: "deposed", leader: "young" });
      await old.close();
      expect(young.leadership.state()).toEqual({ role: "leader" });
      expect(await young.lastCommit()).toBe(3);
    });

    it("a deposed one can write nothing even before its successor has written anything", async () => {
      const ledger = newLedger();
      const grants = new Grants();
      const [old, young] = [replica(ledger, { replica: "old" }), replica(ledger, { replica: "young" })];
      await old.open();
      await grants.commit(old, 2);
      await ledger.expireLease();
      await young.open();
      const batch = grants.next();

      await expect(old.commit(batch)).rejects.toMatchObject({ kind: "deposed", message: /young/ });
      expect(await young.lastCommit()).toBe(2);
      await young.commit(batch);
      expect(await young.lastCommit()).toBe(3);
    });

    it("one whose time ran out unnoticed continues when nobody took over", async () => {
      const ledger = newLedger();
      const clock = fakeClock();
      const store = replica(ledger, { clock });
      await store.open();
      await clock.advance(1000);
      expect(store.leadership.state()).toEqual({ role: "leader" });
      await ledger.expireLease();
      await store.commit(new Grants().next());
      const isFree = "SELECT expires_at <= now() FROM S.lease";
      expect(await ledger.psql(isFree)).toBe("f");
    });

    it("one that cannot renew does not claim to lead any more, and does so again when it can", async () => {
      const clock = fakeClock();
      const proxy = await startFaultyProxy({ port: server().port });
      onTestFinished(proxy.close);
      const store = replica(newLedger(), { clock, leaseMs: 6000, port: proxy.port });
      await store.open();
      proxy.pause();
      await clock.advance(5999);
      expect(store.leadership.state()).toEqual({ role: "leader" });
      await clock.advance(1);
      expect(store.leadership.state()).toEqual({ role: "unsure" });
      proxy.resume();
      await until("it has renewed", async () => {
        await clock.advance(100);
        return store.leadership.state().role === "leader" || undefined;
      });
    });

    it("the leader brings an older ledger to its schema, and that one adopts nothing", async () => {
      const ledger = newLedger();
      const older = replica(ledger);
      await older.open();
      await new Grants().commit(older, 2);
      await older.close();
      await ledger.asFirstVersion();
      const newer = replica(ledger);
      const { records, commitNumber } = await newer.open();
      expect({ commitNumber, adoption: records.adoption }).toEqual({ commitNumber: 2, adoption: undefined });
      expect(records.reservations).toHaveLength(2);
      await newer.close();
    });

    it("an older one does not take over what a newer one has written", async () => {
      const ledger = newLedger();
      const [first, second] = [replica(ledger), replica(ledger)];
      await second.leadership.prepare();
      await first.open();
      await ledger.psql("INSERT INTO S.migration SELECT max(number) + 1 FROM S.migration");
      await first.close();
      await expect(second.open()).rejects.toMatchObject({ kind: "not-committed", message: /newer broker/ });
      expect(await ledger.psql("SELECT epoch FROM S.lease")).toBe("1");
    });
  });

  describe("a commit that was not confirmed", () => {
    async function disturbed() {
      const ledger = newLedger();
      const sessions = faultySessions();
      const store = replica(ledger, { openSession: sessions.openSession });
      await store.open();
      const grants = new Grants();
      await grants.commit(store, 1);
      return { ledger, sessions, store, batch: grants.next(), later: () => grants.next() };
    }

    it.each([
      { fate: "answer-lost", last: 2 },
      { fate: "never-sent", last: 1 },
    ] as const)("($fate) is settled by its number", async ({ fate, last }) => {
      const { sessions, store, batch, later } = await disturbed();
      sessions.plan(fate);
      await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
      expect(await store.lastCommit()).toBe(last);
      if (last === 1) await store.commit(batch);
      await store.commit(later());
      expect(await store.lastCommit()).toBe(3);
    });

    it("is waited for when the server still has it under way", async () => {
      const { ledger, sessions, store, batch } = await disturbed();
      sessions.plan("late");
      await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
      const last = store.lastCommit();
      const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await until(
        "asking waits for the transaction",
        async () => (await ledger.psql(waiting)) !== "0" || undefined,
      );
      await sessions.arrive();
      expect(await last).toBe(2);
    });

    it.each([
      { fate: "answer-lost", last: 2 },
      { fate: "never-sent", last: 1 },
    ] as const)(
      "($fate) is settled also after another replica took over and continued",
      async ({ fate, last }) => {
        const { ledger, sessions, store, batch } = await disturbed();
        sessions.plan(fate);
        await expect(store.commit(batch)).rejects.toMatchObject({ kind: "unknown" });
        await ledger.expireLease();
        const next = replica(ledger);
        const { commitNumber } = await next.open();
        expect(commitNumber).toBe(last);
        await next.commit({ ...batch, number: last + 1, entries: [] });
        await next.commit({ ...batch, number: last + 2, entries: [] });
        expect(await store.lastCommit()).toBe(last);
        expect(await store.lastCommit()).toBe(last);
        await expect(store.commit({ ...batch, number: last + 1 })).rejects.toMatchObject({ kind: "deposed" });
      },
    );

    it("because others got in the way is tried again, but not for ever", async () => {
      const { sessions, store, batch, later } = await disturbed();
      sessions.plan("conflict", "conflict");
      await store.commit(batch);
      expect(await store.lastCommit()).toBe(2);
      sessions.plan("conflict", "conflict", "conflict", "conflict", "conflict");
      const next = later();
      await expect(store.commit(next)).rejects.toMatchObject({ kind: "not-committed" });
      await store.commit(next);
      expect(await store.lastCommit()).toBe(3);
    });
  });

  describe("history", () => {
    const HOUR_MS = 3_600_000;
    it.each([
      { name: "stays within its number", keep: { atMost: 20, forMs: HOUR_MS }, pauseMs: 0, left: [20, 20] },
      {
        name: "goes by age, too",
        keep: { atMost: 1000, forMs: HOUR_MS },
        pauseMs: 2 * HOUR_MS,
        left: [10, 10],
      },
    ])("$name, and what is left of the audit log is still a chain", async ({ keep, pauseMs, left }) => {
      const ledger = newLedger();
      const clock = fakeClock();
      const store = replica(ledger, { clock, retention: { decisions: keep, audit: keep } });
      await store.open();
      const grants = new Grants();
      await grants.commit(store, 40);
      grants.story.now += pauseMs;
      await grants.commit(store, 10);
      await clock.advance(10_000);
      const count = "SELECT (SELECT count(*) FROM S.decision), (SELECT count(*) FROM S.audit)";
      await until("it is trimmed", async () => (await ledger.psql(count)) === left.join("|") || undefined);
      await grants.commit(store, 1);
      await store.close();
      await expect(replica(ledger).open()).resolves.toMatchObject({ commitNumber: 51 });
    });
  });
});
