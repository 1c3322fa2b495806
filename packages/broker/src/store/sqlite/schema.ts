import type { DatabaseSync } from "node:sqlite";
import { schemaVersion, selectSchemaVersion, tooNew } from "../common/ledger-header.ts";
import { StoreFailure } from "../store.ts";
import { addSums } from "./read-ledger.ts";

/** Marks the file as ours: opening somebody else's database must not migrate it. */
const APPLICATION_ID = 0x5242_4c31;

/**
 * Every step ever released, in order; never edited, only added to. Rows carry a seal (see common/seals.ts), because SQLite
 * itself does not notice a changed byte inside a value.
 */
const MIGRATIONS: readonly Migration[] = [
  {
    sql: `
  -- Exactly one row: where the ledger and its audit log stand.
  CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ledger_id TEXT NOT NULL,
    commit_number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    audit_sequence INTEGER NOT NULL,
    audit_hash TEXT NOT NULL,
    trimmed_sequence INTEGER NOT NULL,
    trimmed_hash TEXT NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE reservation (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    phase TEXT NOT NULL,
    body TEXT NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE closed_key (name TEXT PRIMARY KEY, body TEXT NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE cordon (cluster_id TEXT PRIMARY KEY, body TEXT NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE advertisement (
    cluster_id TEXT NOT NULL UNIQUE,
    received_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE decision (
    sequence INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  -- The line is the canonical text that its hash is taken over.
  CREATE TABLE audit (sequence INTEGER PRIMARY KEY, line TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
  `,
  },
  {
    sql: `
  -- At most one row: which holds may be adopted, and until when.
  CREATE TABLE adoption (name TEXT PRIMARY KEY, body TEXT NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  },
  // How many rows each table has, and the sum of their seals.
  { sql: "ALTER TABLE ledger ADD COLUMN sums TEXT NOT NULL DEFAULT '{}';", fill: addSums },
  {
    sql: `
  -- Clusters that were invited, evicted, or whose identity key is bound.
  CREATE TABLE member (cluster_id TEXT PRIMARY KEY, body TEXT NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  },
  {
    sql: `
  -- Requests that wait for capacity, and for a day those that left the queue without a grant.
  CREATE TABLE waiting (
    id TEXT NOT NULL UNIQUE,
    phase TEXT NOT NULL,
    body TEXT NOT NULL,
    seal INTEGER NOT NULL
  ) STRICT;
  `,
  },
  {
    sql: `
  -- What tenants were charged on days that are over.
  CREATE TABLE closed_day (day TEXT PRIMARY KEY, body TEXT NOT NULL, seal INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  },
];

interface Migration {
  readonly sql: string;
  /** What SQL alone cannot do, in the same transaction. */
  readonly fill?: (database: DatabaseSync) => void;
}

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Brings a new or older database to the schema of this version. */
export function migrate(database: DatabaseSync, name: string): void {
  refuseForeign(database, name);
  database.exec("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY) STRICT");
  const done = versionOf(database);
  if (done > SCHEMA_VERSION) throw tooNew(name, done, SCHEMA_VERSION);
  for (const [index, { sql, fill }] of MIGRATIONS.entries()) {
    if (index < done) continue;
    database.exec(`BEGIN IMMEDIATE; ${sql}`);
    fill?.(database);
    database.exec(`INSERT INTO migration VALUES (${index + 1}); COMMIT`);
  }
}

/** The highest step that was taken; 0 for a database without any. */
export function versionOf(database: DatabaseSync): number {
  return schemaVersion(database.prepare(selectSchemaVersion("migration")).get());
}

/** What the schema must look like after all steps, to be compared with what a file really has. */
export function describeSchema(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
    .all()
    .map((row) => JSON.stringify(Object.values(row)));
}

function refuseForeign(database: DatabaseSync, name: string): void {
  const applicationId = database.prepare("PRAGMA application_id").get()?.["application_id"];
  if (applicationId === APPLICATION_ID) return;
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (!isEmpty)
    throw new StoreFailure("not-committed", `${name} is not a broker's ledger; choose another --store`);
  database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}
