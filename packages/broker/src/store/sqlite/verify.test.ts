import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { runs } from "@resource-broker/domain/testing";
import { FULL_HISTORY, LedgerDriver } from "@resource-broker/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sealOf } from "../common/seals.ts";
import { Grants } from "../common/testing/grants.ts";
import { temporaryDirectory } from "../common/testing/temporary-directory.ts";
import { ledgerFileIn } from "./database.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { verifyFile, verifyLedger } from "./verify.ts";

const [FLIPS, LONG_FLIPS] = [400, 30_000];
/**
 * What each table says. Rows of the first two are numbered in the order they came; the numbers themselves mean nothing, and
 * SQLite's own check finds one that is out of order.
 */
const READINGS = [
  "SELECT id, phase, body, seal FROM reservation ORDER BY sequence",
  "SELECT id, at, body, seal FROM decision ORDER BY sequence",
  "SELECT * FROM audit ORDER BY sequence",
  ...["migration", "ledger", "closed_key", "cordon", "advertisement", "adoption", "member"].map(
    (table) => `SELECT * FROM ${table} ORDER BY 1`,
  ),
];

/** A ledger in which everything has happened, closed and whole in one file. */
async function eventfulLedger(): Promise<string> {
  const directory = temporaryDirectory();
  const store = sqliteStore({ directory });
  await store.open();
  const story = new LedgerDriver();
  for (const day of FULL_HISTORY) {
    const batch = day(story);
    if (batch !== undefined) await store.commit(batch);
    await store.saveAdvertisements(story.advertisements);
  }
  await store.close();
  return directory;
}

/** All that the file says, as anyone who reads it would see it. */
function contentsOf(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return JSON.stringify(READINGS.map((reading) => database.prepare(reading).all()));
  } finally {
    database.close();
  }
}

describe("verifying a ledger", () => {
  it("finds nothing wrong with a sound one, and counts what is there", async () => {
    const directory = await eventfulLedger();
    const { problems, found } = verifyLedger(directory);
    expect(problems).toEqual([]);
    expect(found).toMatchObject({ commitNumber: FULL_HISTORY.length, firstAuditLine: 1 });
    expect(found?.lastAuditHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it("takes a commit that was made meanwhile for no alarm", async () => {
    const directory = temporaryDirectory();
    const store = sqliteStore({ directory });
    await store.open();
    const grants = new Grants();
    await grants.commit(store, 1);
    let committed = Promise.resolve();
    const beside = verifyLedger(directory, (file) => {
      const verification = verifyFile(file);
      committed = store.commit(grants.next());
      return verification;
    });
    await committed;
    expect(beside).toMatchObject({ problems: [], found: { commitNumber: 1 } });
    expect(verifyLedger(directory)).toMatchObject({ problems: [], found: { commitNumber: 2 } });
    await store.close();
  });

  it("finds every flipped bit that means something, wherever it is in the file", async () => {
    const directory = await eventfulLedger();
    const file = join(directory, "flipped.db");
    const bytes = readFileSync(ledgerFileIn(directory));
    const before = contentsOf(ledgerFileIn(directory));
    let found = 0;
    // Much of a small file is empty: most flips should hit something.
    const filled = [...bytes.keys()].filter((offset) => bytes[offset] !== 0);
    const offset = fc.oneof(
      fc.nat({ max: bytes.length - 1 }),
      fc.constantFrom(...filled),
      fc.constantFrom(...filled),
    );
    const anywhere = fc.record({ offset, bit: fc.nat({ max: 7 }) });
    fc.assert(
      fc.property(anywhere, ({ offset, bit }) => {
        writeFileSync(file, flipped(bytes, offset, bit));
        if (verifyFile(file).problems.length > 0) found++;
        // Not found: then nobody who reads the file can tell the difference.
        else expect(contentsOf(file)).toBe(before);
      }),
      runs(FLIPS, LONG_FLIPS),
    );
    expect(found).toBeGreaterThan(FLIPS / 2);
  });

  it.each([
    ["a missing line in the middle", "DELETE FROM audit WHERE sequence = 4", /line 4 is missing/],
    ["missing lines at the end", "DELETE FROM audit WHERE sequence > 8", /ends at line 8/],
    ["a missing beginning", "DELETE FROM audit WHERE sequence = 1", /line 1 is missing/],
    ["a changed hash", "UPDATE audit SET hash = upper(hash) WHERE sequence = 2", /line 2 was changed/],
    ["a changed decision", "UPDATE decision SET at = at + 1", /row of table decision/],
    ["a missing decision", "DELETE FROM decision WHERE sequence = 2", /table decision holds/],
    [
      "a key too many",
      `INSERT INTO closed_key VALUES ('x', '{}', ${sealOf("closed_key", ["x", "{}"])})`,
      /table closed_key holds 3 rows, and 2 were committed/,
    ],
    [
      "a missing waiting request",
      "DELETE FROM waiting WHERE phase = 'Pending'",
      /table waiting holds 2 rows/,
    ],
    ["a changed waiting request", "UPDATE waiting SET phase = 'Pending'", /row of table waiting/],
    ["a missing cordon", "DELETE FROM cordon", /table cordon holds 0 rows/],
    ["a missing member", "DELETE FROM member WHERE cluster_id = 'oslo'", /table member holds 2 rows/],
    ["a changed schema", "CREATE TABLE extra (a)", /schema was changed/],
  ])("finds %s", async (_, sql, says) => {
    const directory = await eventfulLedger();
    const database = new DatabaseSync(ledgerFileIn(directory));
    database.exec(sql);
    database.close();
    expect(verifyLedger(directory).problems).toEqual([expect.stringMatching(says)]);
  });

  it("says what is wrong with a place that holds no ledger", () => {
    const directory = temporaryDirectory();
    expect(verifyLedger(directory).problems).toEqual([expect.stringContaining("there is no ledger at")]);
    writeFileSync(
      ledgerFileIn(directory),
      "not a database, though long enough to look like something else".repeat(20),
    );
    expect(verifyLedger(directory).problems).toEqual([expect.stringContaining("no database at all")]);
  });
});

function flipped(bytes: Buffer, offset: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[offset] = (copy[offset] ?? 0) ^ (1 << bit);
  return copy;
}
