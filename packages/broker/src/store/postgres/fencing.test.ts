import { clusterOf, fakeClock, postgresPrograms, until } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { Grants } from "../common/testing/grants.ts";
import { useLedgers } from "../common/testing/use-ledgers.ts";
import { postgresLedgers } from "./testing/stores.ts";

const HOUR_MS = 3_600_000;
/** Longer than the time between two looks for old history: a renewal must not be the first to notice. */
const LEASE_MS = 60_000;
const TRIM_EVERY_MS = 10_000;
const HISTORY = `SELECT (SELECT count(*) FROM S.audit), (SELECT count(*) FROM S.decision),
  (SELECT count(*) FROM S.term WHERE epoch = 1), (SELECT trimmed_sequence FROM S.lease)`;

describe.skipIf(!postgresPrograms().isThere)(
  "on a real PostgreSQL, a leader that was replaced and does not know it",
  () => {
    const { newLedger, replica } = useLedgers(postgresLedgers);

    async function replaced() {
      const ledger = await newLedger();
      const clock = fakeClock();
      const keep = { atMost: 20, forMs: HOUR_MS };
      const retention = { decisions: keep, audit: keep };
      const old = replica(ledger, { replica: "old", clock, leaseMs: LEASE_MS, retention });
      await old.leadership.prepare();
      // A ledger that has seen thousands of terms.
      await ledger.psql("UPDATE S.lease SET epoch = 5000");
      await ledger.psql("INSERT INTO S.term VALUES (1, 'somebody', 0, now())");
      await old.open();
      const grants = new Grants();
      await grants.commit(old, 40);
      await ledger.expireLease();
      const young = replica(ledger, { replica: "young", leaseMs: LEASE_MS });
      await young.open();
      return { ledger, clock, old, young };
    }

    it("removes no history", async () => {
      const { ledger, clock, old } = await replaced();
      await clock.advance(TRIM_EVERY_MS);
      await until("it has tried", async () => old.leadership.state().role === "deposed" || undefined);
      expect(await ledger.psql(HISTORY)).toBe("40|40|1|0");
    });

    it("prolongs no lease", async () => {
      const { ledger, clock, old } = await replaced();
      const lease = await ledger.psql("SELECT expires_at, epoch, instance FROM S.lease");
      await clock.advance(LEASE_MS / 3);
      await until("it has tried", async () => old.leadership.state().role === "deposed" || undefined);
      expect(await ledger.psql("SELECT expires_at, epoch, instance FROM S.lease")).toBe(lease);
    });

    it("ends without ending its successor's term", async () => {
      const { ledger, old } = await replaced();
      await old.close();
      expect(await ledger.psql("SELECT expires_at > now() FROM S.lease")).toBe("t");
    });

    it("saves no advertisement", async () => {
      const { ledger, old } = await replaced();
      const received = { advertisement: clusterOf("oslo", 1), receivedAt: 1, replacedInstances: [] };
      await expect(old.saveAdvertisements([received])).rejects.toMatchObject({ kind: "deposed" });
      expect(await ledger.psql("SELECT count(*) FROM S.advertisement WHERE cluster_id = 'oslo'")).toBe("0");
    });

    it("does not change the tables under an older version that leads by now", async () => {
      const ledger = await newLedger();
      const first = ledger.connect();
      await first.open();
      await first.close();
      await ledger.asFirstVersion();
      const old = replica(ledger, { replica: "old" });
      await old.leadership.prepare();
      expect(await old.leadership.acquire()).toBe(true);
      await ledger.psql(`UPDATE S.lease SET epoch = epoch + 1, instance = 'x', holder = 'older',
        expires_at = now() + interval '1 hour'`);
      await expect(old.open()).rejects.toMatchObject({
        kind: "deposed",
        message: expect.stringContaining("older"),
      });
      expect(await ledger.psql("SELECT max(number) FROM S.migration")).toBe("1");
    });

    it("does not begin to serve what it has read meanwhile", async () => {
      const ledger = await newLedger();
      const old = replica(ledger, { replica: "old" });
      await old.leadership.prepare();
      expect(await old.leadership.acquire()).toBe(true);
      await ledger.expireLease();
      await replica(ledger, { replica: "young" }).open();
      await expect(old.open()).rejects.toMatchObject({
        kind: "deposed",
        message: expect.stringContaining("young"),
      });
    });
  },
);
