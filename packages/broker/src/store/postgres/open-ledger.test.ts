import { postgresPrograms } from "@resource-broker/testkit";
import { describe, expect, it } from "vitest";
import { corrupt, DAMAGES } from "../common/testing/damages.ts";
import { Grants } from "../common/testing/grants.ts";
import { useLedgers } from "../common/testing/use-ledgers.ts";
import { postgresLedgers } from "./testing/stores.ts";

describe.skipIf(!postgresPrograms().isThere)("on a real PostgreSQL", () => {
  const { newLedger, replica, server } = useLedgers(postgresLedgers);

  describe("opening a ledger", () => {
    it.each([
      ...DAMAGES,
      corrupt("a changed commit number", "UPDATE S.lease SET commit_seq = 2", /own row is damaged/),
      corrupt("its own row that is gone", "DELETE FROM S.lease", /row is gone/),
      corrupt("a table that is gone", "DROP TABLE S.cordon", /a table of the ledger is gone/),
    ])("notices $name", async ({ sql, kind, says }) => {
      const ledger = await newLedger();
      const store = ledger.connect();
      await store.open();
      await new Grants().commit(store, 3);
      await store.close();
      await ledger.psql(sql);
      const message = expect.stringMatching(says);
      await expect(replica(ledger).open()).rejects.toMatchObject({ kind, message });
    });

    it("notices in a running leader that the database has lost commits", async () => {
      const ledger = await newLedger();
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

  it("counts what an older version has left, once, guards it from then on, and adopts nothing", async () => {
    const ledger = await newLedger();
    const store = ledger.connect();
    await store.open();
    await new Grants().commit(store, 3);
    await store.close();
    await ledger.asFirstVersion();
    const upgraded = ledger.connect();
    const { records } = await upgraded.open();
    expect(records.reservations).toHaveLength(3);
    expect(records.adoption).toBeUndefined();
    await upgraded.close();
    await ledger.psql("DELETE FROM S.reservation WHERE id = (SELECT min(id) FROM S.reservation)");
    await expect(replica(ledger).open()).rejects.toThrow(
      "table reservation holds 2 rows, and 3 were committed",
    );
  });

  it("says what is in the way when the schema has a table that is not its own", async () => {
    const ledger = await newLedger();
    await ledger.psql(`CREATE SCHEMA ${ledger.schema}`);
    await ledger.psql("CREATE TABLE S.waiting (id TEXT)");
    await expect(replica(ledger).open()).rejects.toThrow('relation "waiting" already exists');
  });

  it("a dump taken from a running ledger can be put back elsewhere, and is the same ledger", async () => {
    const ledger = await newLedger();
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
