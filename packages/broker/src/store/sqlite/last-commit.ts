import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import { type StoreContents, StoreFailure } from "../store.ts";
import { ledgerFileIn } from "./database.ts";

export type LastCommit = Pick<StoreContents, "ledgerId" | "commitNumber">;

/** So that a later note lies exactly over an earlier one: the checksum has as many digits each time, too. */
const DIGITS = 16;

/**
 * Beside the database, so that it does not go with its write-ahead log: which commit was durable last. It is written
 * after each commit and never synced. After a kill or a power failure it may be behind, but never ahead.
 */
function noteIn(directory: string): string {
  return join(directory, "last-commit");
}

/** Undefined: there is no note, or a power failure has left none that can be read. */
export function readLastCommit(directory: string): LastCommit | undefined {
  const file = noteIn(directory);
  if (!existsSync(file)) return undefined;
  const [ledgerId, digits, checksum] = readFileSync(file, "utf8").trim().split(" ");
  if (ledgerId === undefined || digits === undefined) return undefined;
  return checksum === checksumOf(ledgerId, digits) ? { ledgerId, commitNumber: Number(digits) } : undefined;
}

/** For a ledger that another one takes the place of. */
export function forgetLastCommit(directory: string): void {
  rmSync(noteIn(directory), { force: true });
}

export interface LastCommitNote {
  readonly write: (last: LastCommit) => void;
  readonly close: () => void;
}

export function openLastCommitNote(directory: string): LastCommitNote {
  const descriptor = openSync(noteIn(directory), existsSync(noteIn(directory)) ? "r+" : "w", 0o600);
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

/** What is missing from a ledger that stands at an earlier commit than was noted, in words; undefined: nothing. */
export function comparedWith(
  noted: LastCommit | undefined,
  { ledgerId, commitNumber }: LastCommit,
  file: string,
): string | undefined {
  if (noted === undefined || noted.ledgerId !== ledgerId || commitNumber >= noted.commitNumber)
    return undefined;
  return (
    `${file} is at commit ${commitNumber}, and commit ${noted.commitNumber} was durable: commits are missing, as when ` +
    `${basename(file)}-wal was cut or removed, or an older copy was put there by hand. Put the missing file back; or put ` +
    "a backup in its place (brokerctl restore --force <copy>); or go on from here under a new Ledger-ID, so that agents " +
    "offer what they hold for adoption (brokerctl backup <copy>, then brokerctl restore --force --new-id <copy>)"
  );
}

/** A ledger that is behind must not go on as the same one: what it has forgotten would be lent again. */
export function insistOnLastCommit(directory: string, found: LastCommit): void {
  const missing = comparedWith(readLastCommit(directory), found, ledgerFileIn(directory));
  if (missing !== undefined) throw new StoreFailure("corrupt", missing);
}

function checksumOf(ledgerId: string, digits: string): string {
  return crc32(`${ledgerId} ${digits}`).toString(16).padStart(8, "0");
}
