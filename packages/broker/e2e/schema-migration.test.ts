import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PATH } from "@resource-broker/contract";
import {
  type BrokerProcess,
  postgresPrograms,
  reservationBody,
  startBroker,
  startPostgres,
  testCertificates,
} from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifyLedger } from "../src/store/sqlite/verify.ts";

/** What the broker with schema 1 granted under the key `kept`, and did not end. */
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

async function onSqlite(): Promise<OldStore> {
  const directory = await mkdtemp(join(tmpdir(), "schema-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const store = join(directory, "store");
  await mkdir(store);
  const run = (sql: string): void => {
    const database = new DatabaseSync(join(store, "ledger.db"));
    database.exec(sql);
    database.close();
  };
  run(await oldSchema("sqlite"));
  return {
    start: () => startBroker({ certificates, directory }),
    pretendNewer: async () => run(ONE_STEP_MORE),
    problems: () => verifyLedger(store).problems,
  };
}

async function onPostgres(): Promise<OldStore> {
  const server = await startPostgres();
  onTestFinished(server.dispose);
  await server.load(await oldSchema("postgres"), "postgres");
  const store = `${server.url()}?schema=broker`;
  return {
    start: () => startBroker({ certificates, store }),
    pretendNewer: () => server.psql(ONE_STEP_MORE.replaceAll("migration", "broker.migration")),
    problems: () => [],
  };
}

function oldSchema(store: string): Promise<string> {
  return readFile(new URL(`old-schemas/${store}-1.sql`, import.meta.url), "utf8");
}

const rows = [
  { store: "SQLite", open: onSqlite, isThere: true },
  { store: "PostgreSQL", open: onPostgres, isThere: postgresPrograms().isThere },
];

describe.each(rows)("a ledger on $store that an older version left", ({ open, isThere }) => {
  test.skipIf(!isThere)(
    "is upgraded with all it holds, and then refused by a version before it",
    async () => {
      const old = await open();
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
      expect((await rome.request("DELETE", PATH.reservation(KEPT))).status).toBe(200);
      expect(await broker.stop()).toBe(0);
      expect(old.problems()).toEqual([]);

      await old.pretendNewer();
      await expect(old.start()).rejects.toThrow(
        /written by a newer broker \(schema (\d), this one knows \d\): start that version or newer, or restore/,
      );
    },
  );
});
