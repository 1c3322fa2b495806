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

  const HERE = "postgres@127.0.0.1:PORT";
  const VERIFIED = "postgres://postgres@localhost:PORT/postgres?sslmode=verify-full&sslrootcert=FOLDER";
  it.each([
    ["with a password", "postgres://guarded:SECRET@127.0.0.1:PORT/theirs"],
    ["over TLS without a look at the certificate", `postgres://${HERE}/postgres?sslmode=require`],
    ["over TLS to a server that proves its name", `${VERIFIED}/ca.crt`],
    [
      "over TLS to a server that proves its authority",
      `postgres://${HERE}/postgres?sslmode=verify-ca&sslrootcert=FOLDER/ca.crt`,
    ],
  ])("works %s", async (_, url) => {
    await expect(open(url)).resolves.toBeUndefined();
  });

  it.each([
    ["nobody is there", "postgres://x@127.0.0.1:1/postgres", "nobody listens there; start the database"],
    ["there is no such socket", "postgres:///postgres?host=/nowhere", "there is no such socket"],
    ["there is no such database", `postgres://${HERE}/none`, "there is no such database; create it"],
    [
      "the password is wrong",
      "postgres://guarded:wrong-word@127.0.0.1:PORT/theirs",
      "the password is wrong; set PGPASSWORD",
    ],
    [
      "no password is given",
      "postgres://guarded@127.0.0.1:PORT/theirs",
      "the server asks for a password; set PGPASSWORD",
    ],
    ["the user may create nothing", "postgres://guest@127.0.0.1:PORT/postgres", "GRANT CREATE ON DATABASE"],
    [
      "the server's certificate is of another authority",
      `${VERIFIED}/other.crt`,
      "its certificate is not trusted; name its authority with sslrootcert",
    ],
    ["the authority's file is not there", `${VERIFIED}/none.crt`, "no such socket or file"],
  ])("says what to do when %s, and no secret", async (_, url, says) => {
    const failure: unknown = await open(url).catch((error: unknown) => error);
    expect(failure).toMatchObject({ kind: "not-committed", message: expect.stringContaining(says) });
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
    { fsync: "on", warnings: [] },
    { fsync: "", warnings: [] },
    { fsync: "off", warnings: [expect.stringContaining("fsync = off")] },
  ])("with fsync = '$fsync' is taken, with a warning where it is due", async ({ fsync, warnings }) => {
    expect(await checkServer(answering({ ...good, fsync }))).toEqual(warnings);
  });
});
