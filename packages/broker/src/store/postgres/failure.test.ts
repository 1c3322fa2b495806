import { describe, expect, test } from "vitest";
import { StoreFailure } from "../store.ts";
import { isConflict, postgresFailure } from "./failure.ts";

const answered = (code: string, message = "said so"): Error =>
  Object.assign(new Error(message), { code, severity: "ERROR" });
const broken = (code: string, message = "broke"): Error => Object.assign(new Error(message), { code });

describe("what an error of the database stands for", () => {
  test.each([
    {
      name: "a full disk",
      error: answered("53100"),
      kind: "not-committed",
      says: "the disk of the database is full",
    },
    { name: "a standby", error: answered("25006"), kind: "not-committed", says: "connect to the primary" },
    { name: "a shutdown", error: answered("57P01"), kind: "not-committed", says: "is being shut down" },
    { name: "a time-out", error: answered("57014"), kind: "not-committed", says: "took too long" },
    {
      name: "too many clients",
      error: answered("53300"),
      kind: "not-committed",
      says: "raise max_connections",
    },
    { name: "a lost table", error: answered("42P01"), kind: "corrupt", says: "restore a backup" },
    { name: "a damaged page", error: answered("XX001"), kind: "corrupt", says: "restore a backup" },
    {
      name: "a bad certificate",
      error: broken("SELF_SIGNED_CERT_IN_CHAIN"),
      kind: "not-committed",
      says: "sslrootcert",
    },
    {
      name: "an unknown host",
      error: broken("ENOTFOUND"),
      kind: "not-committed",
      says: "no host of that name",
    },
    {
      name: "a host with two addresses, both dead",
      error: new AggregateError([broken("ECONNREFUSED", "::1"), broken("ECONNREFUSED", "127.0.0.1")]),
      kind: "not-committed",
      says: "nobody listens there; start the database, or correct host and port (::1; 127.0.0.1)",
    },
    { name: "anything else", error: new Error("odd"), kind: "not-committed", says: "db: odd" },
  ])("$name is $kind", ({ error, kind, says }) => {
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
