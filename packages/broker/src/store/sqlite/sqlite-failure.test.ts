import { describe, expect, test } from "vitest";
import { sqliteFailure } from "./sqlite-failure.ts";

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
