import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PATH } from "@resource-broker/contract";
import {
  advertisementBody,
  type BrokerProcess,
  postgresPrograms,
  reservationBody,
  startBroker,
  startPostgres,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifyLedger } from "../src/store/sqlite/verify.ts";

/** What the brokers with older schemas granted under the key `kept`, and did not end. */
const KEPT = "rsv-rome-upj6vwe7em7sesm7";
const ONE_STEP_MORE = "INSERT INTO migration SELECT max(number) + 1 FROM migration";

interface OldStore {
  /** Starts this version's broker on the store, again and again. */
  readonly start: () => Promise<BrokerProcess>;
  /** Makes the store one of a broker that is newer than this one. */
  readonly pretendNewer: () => Promise<unknown>;
  /** What a check of the whole store finds. */
  readonly problems: () => readonly string[];
}

const certificates = await testCertificates();

async function onSqlite(schema: number): Promise<OldStore> {
  const directory = await mkdtemp(join(tmpdir(), "schema-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const store = join(directory, "store");
  await mkdir(store);
  const run = (sql: string): void => {
    const database = new DatabaseSync(join(store, "ledger.db"));
    database.exec(sql);
    database.close();
  };
  run(await oldSchema("sqlite", schema));
  return {
    start: () => startBroker({ certificates, directory }),
    pretendNewer: async () => run(ONE_STEP_MORE),
    problems: () => verifyLedger(store).problems,
  };
}

async function onPostgres(schema: number): Promise<OldStore> {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  await server.load(await oldSchema("postgres", schema), "postgres");
  const store = `${server.url()}?schema=broker`;
  return {
    start: () => startBroker({ certificates, store }),
    pretendNewer: () => server.psql(ONE_STEP_MORE.replaceAll("migration", "broker.migration")),
    problems: () => [],
  };
}

function oldSchema(store: string, schema: number): Promise<string> {
  return readFile(new URL(`old-schemas/${store}-${schema}.sql`, import.meta.url), "utf8");
}

/** Schema 3 knew no members, schema 4 no requests that wait. Since schema 4 the fixtures have evicted oslo. */
const rows = [
  { schema: 1, ofOslo: 200 },
  { schema: 3, ofOslo: 200 },
  { schema: 4, ofOslo: 403 },
].flatMap((row) => [
  { ...row, store: "SQLite", open: onSqlite, isThere: true },
  { ...row, store: "PostgreSQL", open: onPostgres, isThere: postgresPrograms().isThere },
]);

describe.each(rows)(
  "a ledger on $store with schema $schema that an older version left",
  ({ open, schema, ofOslo, isThere }) => {
    test.skipIf(!isThere)(
      "is upgraded with all it holds, and then refused by a version before it",
      async () => {
        const old = await open(schema);
        const broker = await old.start();
        onTestFinished(broker.dispose);
        const rome = broker.clientFor("rome");
        const body = { ...reservationBody({ cpu: 2, memoryGi: 4 }), targetClusterID: "paris" };
        const replayed = await rome.request("POST", PATH.reservations, { body, key: "kept" });
        expect(replayed).toMatchObject({ status: 200, body: { id: KEPT, status: { phase: "Reserved" } } });
        const { decisionID } = replayed.body as { decisionID: string };
        const decision = await rome.request("GET", PATH.decision(decisionID));
        expect(decision).toMatchObject({ status: 200, body: { winner: "paris" } });
        const cordoned = await broker.admin().request("GET", PATH.advertisement("tokyo"));
        expect(cordoned.body).toMatchObject({ standing: { cordon: { reason: "new kernel" } } });
        const advertisement = { body: advertisementBody("oslo", { cpu: 1, memoryGi: 1 }) };
        const advertised = await broker.clientFor("oslo").request("POST", PATH.advertisements, advertisement);
        expect(advertised.status).toBe(ofOslo);
        expect((await rome.request("DELETE", PATH.reservation(KEPT))).status).toBe(200);
        expect(await broker.stop()).toBe(0);
        expect(old.problems()).toEqual([]);

        await old.pretendNewer();
        await expect(old.start()).rejects.toThrow(
          /written by a newer broker \(schema (\d), this one knows \d\): start that version or newer, or restore/,
        );
      },
    );
  },
);
