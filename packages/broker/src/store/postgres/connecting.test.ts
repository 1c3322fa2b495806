import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@resource-broker/runtime";
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  testCertificates,
} from "@resource-broker/testkit";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { postgresStore } from "./postgres-store.ts";
import { checkServer } from "./schema.ts";
import type { Session } from "./session.ts";
import { addressOf } from "./testing/stores.ts";

const SECRET = "s3cret-word";

describe.skipIf(!postgresPrograms().isThere)("connecting to a real PostgreSQL", () => {
  let server: PostgresServer;
  let folder: string;
  beforeAll(async () => {
    const certificates = await testCertificates();
    folder = await mkdtemp(join(tmpdir(), "connecting-"));
    await writeFile(join(folder, "ca.crt"), certificates.broker.ca);
    await writeFile(join(folder, "other.crt"), certificates.selfSigned({}).cert);
    server = await startPostgres({ tls: certificates.broker });
    // `guarded` must show a password, the others need none.
    const rules = ["host all guarded 127.0.0.1/32 scram-sha-256", "host all all 127.0.0.1/32 trust"];
    const rows = rules.map((rule) => `SELECT '${rule}'`).join(" UNION ALL ");
    await server.psql(`CREATE ROLE guarded LOGIN PASSWORD '${SECRET}'`);
    await server.psql("CREATE DATABASE theirs OWNER guarded");
    await server.psql("CREATE ROLE guest LOGIN");
    await server.psql(`COPY (${rows}) TO '${await server.psql("SHOW hba_file")}'`);
    await server.psql("SELECT pg_reload_conf()");
  });
  afterAll(async () => {
    await server.dispose();
    await rm(folder, { recursive: true });
  });

  /** The URL with the parts that a test cannot know before. */
  const filled = (url: string): string =>
    url.replace("PORT", String(server.port)).replace("SECRET", SECRET).replace("FOLDER", folder);

  async function open(url: string): Promise<void> {
    const store = postgresStore(
      { address: addressOf(filled(url)), replica: "test", leaseMs: 2000 },
      { clock: systemClock(() => 0), log: { warn: () => undefined } },
    );
    try {
      await store.open();
    } finally {
      await store.close();
    }
  }

  it.each([
    { name: "with a password", url: "postgres://guarded:SECRET@127.0.0.1:PORT/theirs" },
    {
      name: "over TLS without a look at the certificate",
      url: "postgres://postgres@127.0.0.1:PORT/postgres?sslmode=require",
    },
    {
      name: "over TLS to a server that proves its name",
      url: "postgres://postgres@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=FOLDER/ca.crt",
    },
    {
      name: "over TLS to a server that proves its authority",
      url: "postgres://postgres@127.0.0.1:PORT/postgres?sslmode=verify-ca&sslrootcert=FOLDER/ca.crt",
    },
  ])("works $name", async ({ url }) => {
    await expect(open(url)).resolves.toBeUndefined();
  });

  it.each([
    {
      name: "nobody is there",
      url: "postgres://x@127.0.0.1:1/postgres",
      says: /nobody listens there; start the database/,
    },
    {
      name: "there is no such host",
      url: "postgres://x@no-such-host.invalid:1/db?sslmode=disable",
      says: /host/,
    },
    {
      name: "there is no such socket",
      url: "postgres:///postgres?host=/nowhere",
      says: /there is no such socket/,
    },
    {
      name: "there is no such database",
      url: "postgres://postgres@127.0.0.1:PORT/none",
      says: /there is no such database; create it/,
    },
    {
      name: "the password is wrong",
      url: "postgres://guarded:wrong-word@127.0.0.1:PORT/theirs",
      says: /the password is wrong; set PGPASSWORD/,
    },
    {
      name: "no password is given",
      url: "postgres://guarded@127.0.0.1:PORT/theirs",
      says: /the server asks for a password; set PGPASSWORD/,
    },
    {
      name: "the user may create nothing",
      url: "postgres://guest@127.0.0.1:PORT/postgres",
      says: /GRANT CREATE ON DATABASE/,
    },
    {
      name: "the server's certificate is of another authority",
      url: "postgres://postgres@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=FOLDER/other.crt",
      says: /its certificate is not trusted; name its authority with sslrootcert/,
    },
    {
      name: "the authority's file is not there",
      url: "postgres://postgres@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=FOLDER/none.crt",
      says: /no such socket or file/,
    },
  ])("says what to do when $name, and no secret", async ({ url, says }) => {
    const failure = await open(url).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ kind: "not-committed", message: expect.stringMatching(says) });
    expect(String(failure)).not.toMatch(/s3cret|wrong-word/);
  });

  it("says that the server has no TLS", async () => {
    const plain = await startPostgres();
    const url = `${plain.url()}?sslmode=require`;
    await expect(open(url)).rejects.toThrow(
      /the server has no TLS; turn it on there, or say sslmode=disable/,
    );
    await plain.dispose();
  });

  it("works where the server would acknowledge too early by itself", async () => {
    await server.psql("CREATE DATABASE hasty");
    await server.psql("ALTER DATABASE hasty SET synchronous_commit = off");
    await expect(open("postgres://postgres@127.0.0.1:PORT/hasty")).resolves.toBeUndefined();
  });

  it("refuses a database that cannot be written", async () => {
    await server.psql("CREATE DATABASE sealed");
    await server.psql("ALTER DATABASE sealed SET default_transaction_read_only = on");
    const url = "postgres://postgres@127.0.0.1:PORT/sealed";
    await expect(open(url)).rejects.toThrow(/cannot be written; connect to the primary/);
  });
});

describe("a server", () => {
  const answering = (row: Readonly<Record<string, string>>): Pick<Session, "send"> => ({
    send: () => Promise.resolve({ rows: [row], count: 1, command: "SELECT" }),
  });
  const good = { number: "120000", version: "12.0", read_only: "off", fsync: "on" };

  test("that is too old is refused", async () => {
    const old = answering({ ...good, number: "110022", version: "11.22" });
    await expect(checkServer(old)).rejects.toThrow("the server is PostgreSQL 11.22; 12 or newer is needed");
  });

  test.each([
    { name: "keeps what it acknowledges", row: good, warnings: [] },
    { name: "does not know fsync", row: { ...good, fsync: "" }, warnings: [] },
    {
      name: "does not sync",
      row: { ...good, fsync: "off" },
      warnings: [expect.stringContaining("fsync = off")],
    },
  ])("that $name is taken, with a warning where it is due", async ({ row, warnings }) => {
    expect(await checkServer(answering(row))).toEqual(warnings);
  });
});
