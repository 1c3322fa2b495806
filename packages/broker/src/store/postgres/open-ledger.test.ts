import { postgresPrograms } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { sealOf } from "../common/seal.ts";
import { Grants } from "../common/testing/grants.ts";
import { ledgers } from "./testing/ledgers.ts";

/** A row that nobody committed, whose seal fits. */
const CELLS = ["rsv-x", "Reserved", "{}"];

describe.skipIf(!postgresPrograms().isThere)("on a real PostgreSQL", () => {
  const { newLedger, replica, server } = ledgers();

  describe("opening a ledger", () => {
    it.each([
      {
        name: "refuses one of a newer version and says so",
        sql: "INSERT INTO S.migration SELECT max(number) + 1 FROM S.migration",
        kind: "not-committed",
        says: /newer broker \(schema \d+, this one knows \d+\)/,
      },
      {
        name: "refuses a list of migrations with a gap",
        sql: "INSERT INTO S.migration VALUES (7)",
        kind: "corrupt",
        says: /gap/,
      },
      {
        name: "notices a changed reservation",
        sql: `UPDATE S.reservation SET body = replace(body, '"cpuMillis":1000', '"cpuMillis":9000')`,
        kind: "corrupt",
        says: /row of table reservation \(rsv-rome-.*\) is damaged/,
      },
      {
        name: "notices a changed commit number",
        sql: "UPDATE S.lease SET commit_seq = 2",
        kind: "corrupt",
        says: /own row is damaged/,
      },
      {
        name: "notices that its own row is gone",
        sql: "DELETE FROM S.lease",
        kind: "corrupt",
        says: /row is gone/,
      },
      {
        name: "notices that a table is gone",
        sql: "DROP TABLE S.cordon",
        kind: "corrupt",
        says: /a table of the ledger is gone/,
      },
      {
        name: "notices a reservation that was taken away",
        sql: "DELETE FROM S.reservation WHERE id = (SELECT min(id) FROM S.reservation)",
        kind: "corrupt",
        says: /table reservation holds 2 rows, and 3 were committed/,
      },
      {
        name: "notices a reservation that was put in place of another one",
        sql: `UPDATE S.reservation SET id = '${CELLS[0]}', phase = '${CELLS[1]}', body = '${CELLS[2]}',
          seal = ${sealOf("reservation", CELLS)} WHERE id = (SELECT min(id) FROM S.reservation)`,
        kind: "corrupt",
        says: /table reservation does not hold the rows that were committed/,
      },
      {
        name: "notices an advertisement that was taken away",
        sql: "DELETE FROM S.advertisement WHERE cluster_id = 'paris'",
        kind: "corrupt",
        says: /table advertisement holds 1 rows, and 2 were committed/,
      },
      {
        name: "notices that the beginning of the audit log is gone",
        sql: "DELETE FROM S.audit WHERE sequence = 1",
        kind: "corrupt",
        says: /begins at line 2, not at 1/,
      },
      {
        name: "notices that the end of the audit log is gone",
        sql: "DELETE FROM S.audit WHERE sequence = 3",
        kind: "corrupt",
        says: /end of the audit log/,
      },
    ])("$name", async ({ sql, kind, says }) => {
      const ledger = newLedger();
      const store = ledger.connect();
      await store.open();
      await new Grants().commit(store, 3);
      await store.close();
      await ledger.psql(sql);
      const message = expect.stringMatching(says);
      await expect(replica(ledger).open()).rejects.toMatchObject({ kind, message });
    });

    it("notices in a running leader that the database has lost commits", async () => {
      const ledger = newLedger();
      const store = replica(ledger);
      await store.open();
      const row = await ledger.psql("SELECT commit_seq, time, audit_sequence, audit_hash, seal FROM S.lease");
      const grants = new Grants();
      await grants.commit(store, 2);
      const [commitSeq, time, sequence, hash, seal] = row.split("|");
      await ledger.psql(
        `UPDATE S.lease SET commit_seq = ${commitSeq}, time = ${time}, audit_sequence = ${sequence}, audit_hash = '${hash}', seal = ${seal}`,
      );
      const message = expect.stringContaining("it has lost commits");
      await expect(store.commit(grants.next())).rejects.toMatchObject({ kind: "corrupt", message });
    });
  });

  it("counts what an older version has left, once, and guards it from then on", async () => {
    const ledger = newLedger();
    const store = ledger.connect();
    await store.open();
    await new Grants().commit(store, 3);
    await store.close();
    await ledger.asFirstVersion();
    const upgraded = ledger.connect();
    expect((await upgraded.open()).records.reservations).toHaveLength(3);
    await upgraded.close();
    await ledger.psql("DELETE FROM S.reservation WHERE id = (SELECT min(id) FROM S.reservation)");
    await expect(replica(ledger).open()).rejects.toThrow(
      "table reservation holds 2 rows, and 3 were committed",
    );
  });

  it("a dump taken from a running ledger can be put back elsewhere, and is the same ledger", async () => {
    const ledger = newLedger();
    const store = replica(ledger);
    const { ledgerId } = await store.open();
    const grants = new Grants();
    await grants.commit(store, 3);
    const dump = await server().dump(`--schema=${ledger.schema}`);
    await grants.commit(store, 1);
    await server().psql("CREATE DATABASE copy");
    await server().load(dump, "copy");
    const copy = replica(ledger, { database: "copy", leaseMs: 1000 });
    await copy.leadership.prepare();
    // Whoever led when it was taken seems to lead for a moment.
    expect(await copy.leadership.acquire()).toBe(true);
    const { commitNumber, records, ledgerId: copiedId } = await copy.open();
    expect({ commitNumber, copiedId, held: records.reservations.length }).toEqual({
      commitNumber: 3,
      copiedId: ledgerId,
      held: 3,
    });
  });
});
