import { newHeader, schemaVersion, selectSchemaVersion, tooNew } from "../common/ledger-header.ts";
import { StoreFailure } from "../store.ts";
import { codeOf } from "./failure.ts";
import type { Session } from "./session.ts";
import { HEADER_COLUMNS, sealedHeader } from "./tables.ts";

/**
 * Every step ever released, in order; never edited, only added to. `S` stands for the schema. Nothing here is
 * PostgreSQL's alone: databases that speak its language must understand it as well.
 */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    // Exactly one row: who leads until when, and the header of the ledger.
    `CREATE TABLE S.lease (
      one SMALLINT PRIMARY KEY CHECK (one = 1),
      epoch BIGINT NOT NULL,
      instance TEXT NOT NULL,
      holder TEXT NOT NULL,
      expires_at TIMESTAMPTZ NOT NULL,
      ledger_id TEXT NOT NULL,
      commit_seq BIGINT NOT NULL,
      time BIGINT NOT NULL,
      audit_sequence BIGINT NOT NULL,
      audit_hash TEXT NOT NULL,
      trimmed_sequence BIGINT NOT NULL,
      trimmed_hash TEXT NOT NULL,
      seal BIGINT NOT NULL
    )`,
    // The first commit of each leader: a deposed leader reads here whether its last commit was stored.
    `CREATE TABLE S.term (
      epoch BIGINT PRIMARY KEY,
      holder TEXT NOT NULL,
      since_commit BIGINT NOT NULL,
      began_at TIMESTAMPTZ NOT NULL
    )`,
    "CREATE TABLE S.reservation (id TEXT PRIMARY KEY, phase TEXT NOT NULL, body TEXT NOT NULL, seal BIGINT NOT NULL)",
    "CREATE TABLE S.closed_key (name TEXT PRIMARY KEY, body TEXT NOT NULL, seal BIGINT NOT NULL)",
    "CREATE TABLE S.cordon (cluster_id TEXT PRIMARY KEY, body TEXT NOT NULL, seal BIGINT NOT NULL)",
    `CREATE TABLE S.advertisement (
      cluster_id TEXT PRIMARY KEY,
      received_at BIGINT NOT NULL,
      body TEXT NOT NULL,
      seal BIGINT NOT NULL
    )`,
    `CREATE TABLE S.decision (
      sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      at BIGINT NOT NULL,
      body BYTEA NOT NULL,
      seal BIGINT NOT NULL
    )`,
    // The line is the canonical text that its hash is taken over; `at` repeats its time, for trimming.
    "CREATE TABLE S.audit (sequence BIGINT PRIMARY KEY, at BIGINT NOT NULL, line TEXT NOT NULL, hash TEXT NOT NULL)",
  ],
  // At most one row: the adoption window.
  ["CREATE TABLE S.adoption (name TEXT PRIMARY KEY, body TEXT NOT NULL, seal BIGINT NOT NULL)"],
  [
    // How many rows each table of the ledger has, and the sum of their seals: every statement that changes them keeps it up.
    "CREATE TABLE S.table_sum (name TEXT PRIMARY KEY, row_count BIGINT NOT NULL, seal_sum BIGINT NOT NULL)",
    ...["reservation", "closed_key", "cordon", "adoption", "advertisement"].map(
      (table) =>
        `INSERT INTO S.table_sum SELECT '${table}', count(*), coalesce(sum(seal), 0) FROM S.${table}`,
    ),
  ],
  // Clusters that were invited, evicted, or whose identity key is bound.
  ["CREATE TABLE S.member (cluster_id TEXT PRIMARY KEY, body TEXT NOT NULL, seal BIGINT NOT NULL)"],
  // Requests that wait for capacity, and for a day those that left the queue without a grant.
  [
    "CREATE TABLE S.waiting (id TEXT PRIMARY KEY, phase TEXT NOT NULL, body TEXT NOT NULL, seal BIGINT NOT NULL)",
  ],
  // What tenants were charged on days that are over.
  ["CREATE TABLE S.closed_day (day TEXT PRIMARY KEY, body TEXT NOT NULL, seal BIGINT NOT NULL)"],
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Another replica created the same object at the same time: "if not exists" takes no lock. */
const ALREADY_THERE = new Set(["23505", "42P06", "42P07", "42710"]);
const TRIES = 10;

/**
 * Makes the tables of a new database. Several replicas may try at once: one does it, the others find it done. True: an
 * existing ledger is of an older version.
 */
export async function createTables(session: Session, schema: string): Promise<boolean> {
  await untilThere(() => session.send({ text: `CREATE SCHEMA IF NOT EXISTS ${schema}` }));
  const table = `CREATE TABLE IF NOT EXISTS ${schema}.migration (number BIGINT PRIMARY KEY)`;
  await untilThere(() => session.send({ text: table }));
  const version = await versionOf(session, schema);
  if (version === 0) await migrate(session, schema);
  return version > 0 && version < SCHEMA_VERSION;
}

/**
 * Takes the steps that are missing. Of an existing ledger only its leader may do so, whose epoch is given: an older
 * version that leads by now would not keep up what a step adds. False: the term is over.
 */
export async function migrate(session: Session, schema: string, epoch?: number): Promise<boolean> {
  let tries = 0;
  for (let done = await versionOf(session, schema); done < SCHEMA_VERSION; ) {
    const step = { number: done + 1, epoch, isLastTry: ++tries === TRIES };
    if (!(await runMigration(session, schema, step))) return false;
    const before = done;
    done = await versionOf(session, schema);
    if (done > before) tries = 0;
  }
  return true;
}

/** The highest step that was taken; 0 for a database without any. */
async function versionOf(session: Session, schema: string): Promise<number> {
  const { rows } = await session.send({ text: selectSchemaVersion(`${schema}.migration`) });
  const version = schemaVersion(rows[0]);
  refuseNewer(version);
  return version;
}

export function refuseNewer(version: number): void {
  if (version > SCHEMA_VERSION) throw tooNew("the database", version, SCHEMA_VERSION);
}

/** The row of the step serializes replicas: the second one waits and finds the step done. */
async function runMigration(
  session: Session,
  schema: string,
  { number, epoch, isLastTry }: Step,
): Promise<boolean> {
  await session.send({ text: "BEGIN" });
  try {
    if (epoch !== undefined && !(await isTerm(session, schema, epoch))) {
      await session.send({ text: "ROLLBACK" });
      return false;
    }
    await session.send({ text: `INSERT INTO ${schema}.migration (number) VALUES ($1)`, values: [number] });
    for (const text of MIGRATIONS[number - 1] ?? []) {
      await session.send({ text: text.replaceAll(/\bS\./g, `${schema}.`) });
    }
    if (number === 1) await insertHeader(session, schema);
    await session.send({ text: "COMMIT" });
  } catch (error) {
    await session.send({ text: "ROLLBACK" });
    if (isLastTry || !isThere(error)) throw error;
  }
  return true;
}

interface Step {
  readonly number: number;
  /** Of the leader that takes it; undefined: there is no ledger yet. */
  readonly epoch: number | undefined;
  /** What is in the way is not another replica's: nobody has noted the step. */
  readonly isLastTry: boolean;
}

/** Locks the lease, so that the term cannot end before the transaction does. */
async function isTerm(session: Session, schema: string, epoch: number): Promise<boolean> {
  const text = `SELECT 1 FROM ${schema}.lease WHERE one = 1 AND epoch = $1 FOR UPDATE`;
  return (await session.send({ text, values: [epoch] })).count === 1;
}

/** The lease begins as one that has run out. */
async function insertHeader(session: Session, schema: string): Promise<void> {
  const placeholders = HEADER_COLUMNS.map((_, index) => `$${index + 1}`).join(", ");
  await session.send({
    text: `INSERT INTO ${schema}.lease (one, epoch, instance, holder, expires_at, ${HEADER_COLUMNS.join(", ")})
      VALUES (1, 0, '', '', now(), ${placeholders})`,
    values: sealedHeader(newHeader()),
  });
}

async function untilThere(create: () => Promise<unknown>): Promise<void> {
  for (let left = TRIES; ; left--) {
    try {
      await create();
      return;
    } catch (error) {
      if (left === 0 || !isThere(error)) throw error;
    }
  }
}

function isThere(error: unknown): boolean {
  return ALREADY_THERE.has(codeOf(error) ?? "");
}

/** Arrays of several columns at once, upserts, identity columns, a limit for silent transactions. */
const OLDEST = { number: 120_000, name: "12" };

/** A server that cannot serve is refused; returns what is worth a warning. */
export async function checkServer(session: Pick<Session, "send">): Promise<string[]> {
  const { rows } = await session.send({
    text: `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
      current_setting('transaction_read_only') AS read_only, current_setting('fsync', true) AS fsync`,
  });
  const { number, version, read_only: readOnly, fsync } = { ...rows[0] };
  if (Number(number) < OLDEST.number) {
    const message = `the server is PostgreSQL ${String(version)}; ${OLDEST.name} or newer is needed`;
    throw new StoreFailure("not-committed", message);
  }
  if (readOnly === "on") {
    const message = "the database cannot be written; connect to the primary, not to a standby";
    throw new StoreFailure("not-committed", message);
  }
  return fsync === "off"
    ? ["the database runs with fsync = off: acknowledged reservations can be lost when its machine fails"]
    : [];
}
