import {
  fakeClock,
  postgresPrograms,
  STORE_PROMISES,
  startFaultyProxy,
  until,
} from "@resource-broker/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { replicaSuite } from "../common/testing/replica-suite.ts";
import { useLedgers } from "../common/testing/use-ledgers.ts";
import { faultySessions } from "./testing/faulty-sessions.ts";
import { postgresLedgers } from "./testing/stores.ts";

describe.skipIf(!postgresPrograms().isThere)("on a real PostgreSQL", () => {
  const { newLedger, replica, server } = useLedgers(postgresLedgers);

  describe("the postgres store passes the conformance suite of a store", () => {
    it.each(STORE_PROMISES)("$name", async ({ keep }) => {
      await expect(keep(() => server().newLedger())).resolves.toBeUndefined();
    });
  });

  replicaSuite(async () => {
    const ledger = await newLedger();
    return {
      connect: (options) => replica(ledger, options),
      faulty: (options) => {
        const { openSession, plan } = faultySessions();
        return { store: replica(ledger, { ...options, openSession }), plan };
      },
      pausable: async (options) => {
        const proxy = await startFaultyProxy({ port: server().port });
        onTestFinished(proxy.close);
        return { store: replica(ledger, { ...options, port: proxy.port }), ...proxy };
      },
      expireLease: ledger.expireLease,
    };
  });

  describe("of several replicas", () => {
    it("one whose time ran out unnoticed continues when nobody took over", async () => {
      const ledger = await newLedger();
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

    it("an older one does not take over what a newer one has written", async () => {
      const ledger = await newLedger();
      const [first, second] = [replica(ledger), replica(ledger)];
      await second.leadership.prepare();
      await first.open();
      await ledger.psql("INSERT INTO S.migration SELECT max(number) + 1 FROM S.migration");
      await first.close();
      await expect(second.open()).rejects.toMatchObject({
        kind: "not-committed",
        message: expect.stringContaining("newer broker"),
      });
      expect(await ledger.psql("SELECT epoch FROM S.lease")).toBe("1");
    });
  });

  describe("a commit that was not confirmed", () => {
    async function disturbed() {
      const ledger = await newLedger();
      const sessions = faultySessions();
      const store = replica(ledger, { openSession: sessions.openSession });
      await store.open();
      const grants = new Grants();
      await grants.commit(store, 1);
      return { ledger, sessions, store, batch: grants.next(), later: () => grants.next() };
    }

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
      const ledger = await newLedger();
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
