import { closeSync, existsSync, fsyncSync, openSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "@resource-broker/runtime";
import { type FailureKind, StoreFailure } from "../store.ts";

/** SQLite's result codes that decide what to do next (the low byte of the extended code). */
const [BUSY, LOCKED, READONLY, IO_ERROR, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE] = [
  5, 6, 8, 10, 11, 13, 14, 26,
] as const;

const REMEDIES: ReadonlyMap<number, string> = new Map([
  [BUSY, "another program keeps it locked; end that program"],
  [LOCKED, "another program keeps it locked; end that program"],
  [READONLY, "it cannot be written; make the directory writable for the broker"],
  [IO_ERROR, "the disk failed to read or write; check the disk and its mount"],
  [CORRUPT, "it is damaged; stop the broker and restore a backup"],
  [FULL, "the disk is full; free some space there"],
  [CANNOT_OPEN, "it cannot be opened; the directory must exist and be writable for the broker"],
  [NOT_A_DATABASE, "it is damaged or no database at all; stop the broker and restore a backup"],
]);

/** The same for what the system says to files that we make ourselves. */
const SYSTEM_CODES: ReadonlyMap<unknown, number> = new Map([
  ["EACCES", CANNOT_OPEN],
  ["EPERM", CANNOT_OPEN],
  ["ENOENT", CANNOT_OPEN],
  ["EROFS", READONLY],
  ["EIO", IO_ERROR],
  ["ENOSPC", FULL],
]);

/**
 * The failure that an error means, with what a person can do about it. An error that comes neither from SQLite nor
 * from the system was made by what is stored: it could not be made sense of.
 */
export function sqliteFailure(error: unknown, file: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = resultCode(error);
  const isCorrupt =
    code === CORRUPT || code === NOT_A_DATABASE || (code === undefined && !isSystemError(error));
  const kind: FailureKind = isCorrupt ? "corrupt" : "not-committed";
  const advice = REMEDIES.get(code ?? systemCode(error) ?? 0);
  return new StoreFailure(kind, `${file}: ${advice === undefined ? message : `${advice} (${message})`}`, {
    cause: error,
  });
}

export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

function systemCode(error: unknown): number | undefined {
  return error instanceof Error && "code" in error ? SYSTEM_CODES.get(error.code) : undefined;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

const WRITABLE_BY_ALL = 0o002;

/** Makes the directory, and those above it, so that a power failure does not take it away with what is in it. */
export function makeDirectory(directory: string): void {
  try {
    const highest = makeFolder(directory, 0o700);
    if (highest === undefined) return;
    for (let made = resolve(directory); made !== dirname(resolve(highest)); made = dirname(made))
      flush(dirname(made));
  } catch (error) {
    throw sqliteFailure(error, directory);
  }
}

/** What is worth a warning. A group that may write is how Kubernetes gives a volume to a pod (fsGroup). */
export function directoryWarning(directory: string): string | undefined {
  if ((statSync(directory).mode & WRITABLE_BY_ALL) === 0) return undefined;
  return `everybody on this machine can write the ledger's folder, and could put another ledger there: chmod 700 ${directory}`;
}

/**
 * Makes an empty file for SQLite to fill, unless there is one. SQLite itself would let everybody read it; the files
 * that it keeps beside a database have the database's mode.
 */
export function makePrivateFile(file: string): void {
  try {
    if (!existsSync(file)) closeSync(openSync(file, "ax", 0o600));
  } catch (error) {
    throw sqliteFailure(error, file);
  }
}

/**
 * Makes a file's content, or a directory's entries, survive a power failure. Never for a database that this process has
 * open: closing the file would drop SQLite's locks on it.
 */
export function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

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
