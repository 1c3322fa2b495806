import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreFailure } from "../store.ts";
import { flush, makePrivateFile } from "./durable-files.ts";
import { sqliteFailure } from "./sqlite-failure.ts";

export function ledgerFileIn(directory: string): string {
  return join(directory, "ledger.db");
}

/** Here while a restore is under way: the ledger beside it may be without its log. */
export function unfinishedRestore(file: string): string {
  return `${file}.unfinished`;
}

export function logOf(file: string): string {
  return `${file}-wal`;
}

export function isEmpty(file: string): boolean {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** SQLite deletes the log of a database that is empty, even where it only reads; and it may hold the whole ledger. */
function refuseLogAlone(file: string): void {
  const log = logOf(file);
  if (!isEmpty(file) || isEmpty(log)) return;
  const store = `--store sqlite:${dirname(file)}`;
  throw new StoreFailure(
    "corrupt",
    `${file} is missing or empty, and its log ${log} may hold commits. Put the missing file back; or put a backup in its ` +
      `place (brokerctl restore ${store} --force <copy>); or start anew on purpose: remove all files in ${dirname(file)}, ` +
      "last-commit too, and agents offer what they hold for adoption",
  );
}

/** Rows are mostly appended: with pages of twice the usual size a large batch costs a sixth less, a single row hardly more. */
const PAGE_BYTES = 8192;
/** After this number of pages the log is copied into the database: small enough to cause no noticeable pause. */
const LOG_PAGES = 500;
/** The log may grow in a burst; afterwards it is cut back to this. */
const LOG_LIMIT_BYTES = 64 * 2 ** 20;

/**
 * Opens the ledger for writing. FULL: a commit returns only when the write-ahead log is on the disk. The cell check
 * makes SQLite look at a damaged page twice before it believes it.
 */
export function openForWriting(file: string): DatabaseSync {
  if (existsSync(unfinishedRestore(file))) {
    throw new StoreFailure(
      "not-committed",
      `a restore into ${file} was interrupted; run it again with --force`,
    );
  }
  refuseLogAlone(file);
  makePrivateFile(file);
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  return orClose(database, file, () => {
    database.exec(`
      PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${LOG_PAGES};
      PRAGMA cell_size_check = ON;
      PRAGMA trusted_schema = OFF;
      PRAGMA journal_size_limit = ${LOG_LIMIT_BYTES};
    `);
  });
}

/**
 * A process that was killed may have written a commit and not yet synced it: the next one reads it, and would answer
 * from what a power failure can still take away. To be called before the ledger is opened.
 */
export function secureLog(file: string): void {
  const log = logOf(file);
  try {
    if (existsSync(log)) flush(log);
  } catch (error) {
    throw sqliteFailure(error, log);
  }
}

/** Opens the ledger beside a broker that may be writing it. */
export function openForReading(file: string): DatabaseSync {
  refuseLogAlone(file);
  if (!existsSync(file))
    throw new StoreFailure("not-committed", `there is no ledger at ${file}; check the path`);
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  return orClose(database, file, () =>
    database.exec("PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF"),
  );
}

function orClose(database: DatabaseSync, file: string, prepare: () => void): DatabaseSync {
  try {
    prepare();
    return database;
  } catch (error) {
    database.close();
    throw sqliteFailure(error, file);
  }
}
