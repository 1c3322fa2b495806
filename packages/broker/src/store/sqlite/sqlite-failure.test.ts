import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { sqliteFailure } from "./database.ts";

describe("what the system says to a file of the ledger", () => {
  test.each([
    ["EACCES", "it cannot be opened; the directory must exist and be writable for the broker"],
    ["EROFS", "it cannot be written; make the directory writable for the broker"],
    ["ENOSPC", "the disk is full; free some space there"],
  ])("%s comes with what to do", (code, advice) => {
    const error = Object.assign(new Error(`${code}: open '/var/lib/broker/lock'`), { code, syscall: "open" });
    const failure = sqliteFailure(error, "/var/lib/broker/lock");
    expect(failure.kind).toBe("not-committed");
    expect(failure.message).toBe(`/var/lib/broker/lock: ${advice} (${error.message})`);
  });
});

test("SQLite's word for a full disk means surely not committed", () => {
  const database = new DatabaseSync(":memory:");
  database.exec("CREATE TABLE t (a); PRAGMA max_page_count = 5");
  let failure: unknown;
  try {
    database.exec("INSERT INTO t VALUES (randomblob(100000))");
  } catch (error) {
    failure = sqliteFailure(error, "small.db");
  }
  database.close();
  expect(failure).toMatchObject({ kind: "not-committed", message: expect.stringContaining("disk is full") });
});
