import { describe, expect, test } from "vitest";
import { readAddress } from "./address.ts";

describe("the URL of a database", () => {
  test("says where it is and who we are", () => {
    expect(readAddress("postgres://me:p%40ss@db.example:5433/ledger?schema=east")).toEqual({
      ok: true,
      address: {
        host: "db.example",
        port: 5433,
        database: "ledger",
        user: "me",
        password: "p@ss",
        sslMode: "verify-full",
        sslRootCert: undefined,
        sslCert: undefined,
        sslKey: undefined,
        schema: "east",
        displayName: "postgres://me@db.example:5433/ledger (schema east)",
      },
    });
  });

  test.each([
    { url: "postgresql://db/x", host: "db", port: 5432, sslMode: "verify-full" },
    { url: "postgres://localhost/x", host: "localhost", port: 5432, sslMode: "disable" },
    { url: "postgres://127.0.0.1:7/x", host: "127.0.0.1", port: 7, sslMode: "disable" },
    { url: "postgres://[::1]/x", host: "::1", port: 5432, sslMode: "disable" },
    { url: "postgres://[fd00::1]/x", host: "fd00::1", port: 5432, sslMode: "verify-full" },
    { url: "postgres:///x?host=/run/postgresql", host: "/run/postgresql", port: 5432, sslMode: "disable" },
    { url: "postgres://db/x?sslmode=require", host: "db", port: 5432, sslMode: "require" },
    { url: "postgres://localhost/x?sslmode=verify-ca", host: "localhost", port: 5432, sslMode: "verify-ca" },
  ])("$url is read as libpq would, and is safe where nothing is said", ({ url, ...expected }) => {
    expect(readAddress(url)).toMatchObject({ ok: true, address: { ...expected, schema: "resource_broker" } });
  });

  test.each([
    { url: "postgres://secret", problem: "it names no database; write postgres://user@host:5432/database" },
    { url: "postgres:///x", problem: "it names no host; write postgres://user@host:5432/database" },
    { url: "postgres://secret@db/a/b", problem: "a database has one plain name" },
    { url: "postgres://secret@db/x#y", problem: "a database has one plain name" },
    { url: "postgres://secret@db:port/x", problem: "it is no URL of a database" },
    { url: "mysql://secret@db/x", problem: "it is no URL of a database" },
    {
      url: "postgres://secret@db/x?sslmode=prefer",
      problem: "sslmode is one of disable, require, verify-ca",
    },
    { url: "postgres://secret@db/x?schema=a;drop", problem: "schema is a name of small letters" },
    { url: "postgres://secret@db/x?sslcert=/a", problem: "sslcert and sslkey come together" },
    { url: "postgres://secret@db/x?timeout=3", problem: '"timeout" is no parameter; there are host, schema' },
  ])("$url is refused with the remedy, and is not repeated", ({ url, problem }) => {
    const reading = readAddress(url);
    expect(reading).toEqual({ ok: false, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(reading)).not.toContain("secret");
  });
});
