import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { type StoreContents, StoreFailure } from "../store.ts";
import { isEmpty, ledgerFileIn, logOf, openForReading, sqliteFailure } from "./database.ts";
import { findHeader } from "./read-ledger.ts";

export type LastCommit = Pick<StoreContents, "ledgerId" | "commitNumber">;

/** Fixed width, so that a new note overwrites the old one completely. */
const DIGITS = 16;

/** Undefined: there is no note, or a power failure has left none that can be read. */
export function readLastCommit(directory: string): LastCommit | undefined {
  const file = notePath(directory);
  if (!existsSync(file)) return undefined;
  const [ledgerId, digits, checksum] = textOf(file).trim().split(" ");
  if (ledgerId === undefined || digits === undefined) return undefined;
  return checksum === checksumOf(ledgerId, digits) ? { ledgerId, commitNumber: Number(digits) } : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `${file} must be a file that the broker can read and write (${reason}); make it one, or move it away`;
    throw new StoreFailure("not-committed", message, { cause });
  }
}

/** Call it when the ledger is replaced by another one. */
export function removeLastCommitNote(directory: string): void {
  rmSync(notePath(directory), { force: true });
}

export interface LastCommitNote {
  readonly write: (last: LastCommit) => void;
  readonly close: () => void;
}

export function openLastCommitNote(directory: string): LastCommitNote {
  const descriptor = openSync(notePath(directory), existsSync(notePath(directory)) ? "r+" : "w", 0o600);
  return {
    write: ({ ledgerId, commitNumber }) => {
      const digits = String(commitNumber).padStart(DIGITS, "0");
      try {
        writeSync(descriptor, `${ledgerId} ${digits} ${checksumOf(ledgerId, digits)}\n`, 0);
      } catch {
        // The commit is durable all the same, and a note that is behind does no harm.
      }
    },
    close: () => closeSync(descriptor),
  };
}

/**
 * What is missing from a ledger that stands at an earlier commit than was noted, or at none, in words; undefined: nothing.
 * Another ledger that has commits was put there on purpose.
 */
export function missingCommits(
  noted: LastCommit | undefined,
  found: LastCommit | undefined,
  file: string,
): string | undefined {
  if (noted === undefined || noted.commitNumber === 0) return undefined;
  const { ledgerId, commitNumber } = found ?? { ledgerId: undefined, commitNumber: 0 };
  if (commitNumber === 0) return everythingMissing(noted, file);
  if (noted.ledgerId !== ledgerId || commitNumber >= noted.commitNumber) return undefined;
  const store = `--store sqlite:${dirname(file)}`;
  return (
    `${file} is at commit ${commitNumber}, and commit ${noted.commitNumber} was durable: commits are missing, as when ` +
    `${basename(file)}-wal was cut or removed, or an older copy was put there by hand. Put the missing file back; or put ` +
    `a backup in its place (brokerctl restore ${store} --force <copy>); or go on from here under a new Ledger-ID, so that ` +
    `agents offer what they hold for adoption (brokerctl backup ${store} <copy>, then brokerctl restore ${store} --force ` +
    "--new-id <copy>)"
  );
}

function everythingMissing({ ledgerId, commitNumber }: LastCommit, file: string): string {
  const [name, directory] = [basename(file), dirname(file)];
  return (
    `${file} holds no commit, and commit ${commitNumber} was durable: all of ledger ${ledgerId} is missing, as when ${name} ` +
    `or ${name}-wal was removed or emptied. Put the missing file back; or put a backup in its place (brokerctl restore ` +
    `--store sqlite:${directory} --force <copy>); or start anew on purpose: remove all files in ${directory}, last-commit ` +
    "too, and agents offer what they hold for adoption"
  );
}

/**
 * Throws if commits are missing: a ledger without them would grant reserved capacity again. Call it before the ledger is
 * opened for writing, because opening changes the files that are needed to find the cause.
 */
export function requireLastCommit(directory: string): void {
  const noted = readLastCommit(directory);
  if (noted === undefined || noted.commitNumber === 0) return;
  const file = ledgerFileIn(directory);
  const missing = missingCommits(noted, lastCommitIn(file), file);
  if (missing !== undefined) throw new StoreFailure("corrupt", missing);
}

/** The last commit in the file, for any schema version; undefined if there is none. */
function lastCommitIn(file: string): LastCommit | undefined {
  if (isEmpty(file)) return undefined;
  try {
    // Without a log there is nothing to share with others: so SQLite makes no files beside this one.
    const database = existsSync(logOf(file))
      ? openForReading(file)
      : new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true });
    try {
      const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'ledger'").get();
      return table && findHeader(database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw sqliteFailure(error, file);
  }
}

function checksumOf(ledgerId: string, digits: string): string {
  return crc32(`${ledgerId} ${digits}`).toString(16).padStart(8, "0");
}

/**
 * Beside the database, so that it does not go with its write-ahead log: which commit was durable last. It is written
 * after each commit and never synced. After a kill or a power failure it may be behind, but never ahead.
 */
function notePath(directory: string): string {
  return join(directory, "last-commit");
}
