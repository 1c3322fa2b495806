import { describe, expect, test } from "vitest";
import { StoreFailure } from "../store.ts";
import { isConflict, postgresFailure } from "./failure.ts";

const answered = (code: string, message = "said so"): Error =>
  Object.assign(new Error(message), { code, severity: "ERROR" });
const broken = (code: string, message = "broke"): Error => Object.assign(new Error(message), { code });

describe("what an error of the database stands for", () => {
  const twoAddresses = [broken("ECONNREFUSED", "::1"), broken("ECONNREFUSED", "127.0.0.1")];
  test.each([
    ["a full disk", answered("53100"), "not-committed", "the disk of the database is full"],
    ["a shutdown", answered("57P01"), "not-committed", "is being shut down"],
    ["a time-out", answered("57014"), "not-committed", "took too long"],
    ["too many clients", answered("53300"), "not-committed", "raise max_connections"],
    ["a lost table", answered("42P01"), "corrupt", "restore a backup"],
    ["a damaged page", answered("XX001"), "corrupt", "restore a backup"],
    ["an unknown host", broken("ENOTFOUND"), "not-committed", "no host of that name"],
    [
      "a host with two addresses, both dead",
      new AggregateError(twoAddresses),
      "not-committed",
      "nobody listens there; start the database, or correct host and port (::1; 127.0.0.1)",
    ],
    ["anything else", new Error("odd"), "not-committed", "db: odd"],
  ])("%s", (_, error, kind, says) => {
    expect(postgresFailure(error, "db")).toMatchObject({ kind, message: expect.stringContaining(says) });
  });

  test("a failure that is known already stays what it is", () => {
    const failure = new StoreFailure("unknown", "who knows");
    expect(postgresFailure(failure, "db")).toBe(failure);
  });

  test.each([
    { error: answered("40001"), isOne: true },
    { error: answered("40P01"), isOne: true },
    // The database itself does not know whether it is there.
    { error: answered("40003"), isOne: false },
    { error: answered("53100"), isOne: false },
    // Only the database can say that it has undone something.
    { error: broken("40001"), isOne: false },
  ])("$error.code is a conflict: $isOne", ({ error, isOne }) => {
    expect(isConflict(error)).toBe(isOne);
  });
});
