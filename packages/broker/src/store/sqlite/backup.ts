import { randomUUID } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Instant } from "@resource-broker/domain";
import { adoptionWindowEntry } from "../common/adoption-window.ts";
import { StoreFailure } from "../store.ts";
import {
  flush,
  ledgerFileIn,
  logOf,
  makeDirectory,
  makePrivateFile,
  openForReading,
  sqliteFailure,
  unfinishedRestore,
} from "./database.ts";
import { removeLastCommitNote } from "./last-commit.ts";
import { openLedgerFile } from "./ledger-file.ts";
import { headerCells, readHeader, UPDATE_HEADER } from "./read-ledger.ts";
import { lockDirectory } from "./sqlite-store.ts";
import { type Verification, verifyFile } from "./verify.ts";

export interface BackupOptions {
  /** Where the ledger is. */
  readonly directory: string;
  /** The copy to write; must not exist yet. */
  readonly file: string;
}

/** In one step: a copy in several steps starts over whenever a commit comes in between. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies the ledger as it stands at one commit into a single file, beside a running broker or without one. The broker
 * goes on committing meanwhile; the copying runs on another thread.
 */
export async function backupLedger({ directory, file }: BackupOptions): Promise<void> {
  if (existsSync(file))
    throw new StoreFailure("not-committed", `${file} exists already; choose another name`);
  const unfinished = `${file}.unfinished`;
  const source = openForReading(ledgerFileIn(directory));
  try {
    rmSync(unfinished, { force: true });
    makePrivateFile(unfinished);
    await backup(source, unfinished, { rate: ALL_PAGES });
    makeSingleFile(unfinished);
    flush(unfinished);
    renameSync(unfinished, file);
    flush(dirname(file));
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw sqliteFailure(error, file);
  } finally {
    source.close();
  }
}

export interface RestoreOptions {
  /** A copy made by `backupLedger`. */
  readonly file: string;
  /** Where the ledger shall be. */
  readonly directory: string;
  /** Replaces a ledger that is there; it is kept beside as `ledger.db.replaced`. */
  readonly force?: boolean;
  /** Gives the copy a new ledger ID, so that agents offer all their reservations for adoption. */
  readonly newId?: boolean;
  readonly now: Instant;
}

/** A restore trims nothing: the broker applies its own retention later. */
const KEEP_ALL = { atMost: Number.MAX_SAFE_INTEGER, forMs: Number.MAX_SAFE_INTEGER };

/**
 * Puts a copy in place of the ledger, after checking every byte of it that means something. No broker may be running.
 *
 * Unless told otherwise the ledger keeps its Ledger-ID. It records that its memory begins now. What was granted after the
 * copy was made is unknown to it: asked by id it answers 404, the agents keep holding it (`UnknownToBroker`) and offer it,
 * and it is adopted for a day. Until then its capacity stays counted through their usage reports, and is never lent twice.
 * What ended after the copy was made is live again, until it is released or expires.
 */
export function restoreLedger({ file, directory, force = false, ...how }: RestoreOptions): Verification {
  makeDirectory(directory);
  const lock = lockDirectory(directory);
  const ledger = ledgerFileIn(directory);
  const staged = `${ledger}.staged`;
  const removeStaged = (): void => {
    for (const part of ["", "-wal", "-shm"]) rmSync(`${staged}${part}`, { force: true });
  };
  try {
    // Of one that was killed: its log would be applied to this copy.
    removeStaged();
    if ((existsSync(ledger) || existsSync(logOf(ledger))) && !force) {
      throw new StoreFailure(
        "not-committed",
        `there is a ledger at ${ledger}; use --force to replace it (it is kept beside)`,
      );
    }
    const verification = prepareCopy(file, staged, how);
    replace(staged, ledger);
    return verification;
  } finally {
    removeStaged();
    lock.release();
  }
}

type PrepareOptions = Pick<RestoreOptions, "newId" | "now">;

/** Prepares a verified copy of the backup: migrated, with an open adoption window. */
function prepareCopy(file: string, staged: string, { newId = false, now }: PrepareOptions): Verification {
  if (!existsSync(file)) throw unsound(file, ["there is no such file; check the path"]);
  copyFileSync(file, staged);
  // The copy's mode comes along, and earlier releases let everybody read copies.
  chmodSync(staged, 0o600);
  try {
    openLedgerFile(staged, { decisions: KEEP_ALL, audit: KEEP_ALL }).close();
  } catch (error) {
    throw unsound(file, [sqliteFailure(error, file).message]);
  }
  const verification = verifyFile(staged);
  if (verification.problems.length > 0) throw unsound(file, verification.problems);
  if (newId) giveNewId(staged);
  recordRestore(staged, now);
  makeSingleFile(staged);
  return { ...verification, file };
}

function unsound(file: string, problems: readonly string[]): StoreFailure {
  return new StoreFailure("corrupt", `${file} is not a sound copy: ${problems.join("; ")}`);
}

function recordRestore(staged: string, now: Instant): void {
  const ledger = openLedgerFile(staged, { decisions: KEEP_ALL, audit: KEEP_ALL });
  try {
    const number = ledger.lastCommit() + 1;
    ledger.commit({
      number,
      at: now,
      entries: [{ ...adoptionWindowEntry(now, "restored"), action: "restore" }],
    });
  } finally {
    ledger.close();
  }
}

function replace(staged: string, ledger: string): void {
  const unfinished = unfinishedRestore(ledger);
  renameSync(staged, unfinished);
  flush(unfinished);
  if (existsSync(ledger) || existsSync(logOf(ledger))) keepReplaced(ledger, `${ledger}.replaced`);
  // A broker does not start while the unfinished copy exists, so the note and the ledger change together.
  removeLastCommitNote(dirname(ledger));
  renameSync(unfinished, ledger);
  flush(dirname(ledger));
}

function giveNewId(file: string): void {
  const database = new DatabaseSync(file);
  try {
    const header = { ...readHeader(database), ledgerId: randomUUID() };
    database.prepare(UPDATE_HEADER).run(...headerCells(header), header.commitNumber);
  } finally {
    database.close();
  }
}

/** The log moves along: beside another database it would be applied to that one. */
function keepReplaced(ledger: string, kept: string): void {
  for (const part of ["", "-wal"]) rmSync(`${kept}${part}`, { force: true });
  if (existsSync(ledger)) linkSync(ledger, kept);
  if (existsSync(logOf(ledger))) renameSync(logOf(ledger), logOf(kept));
  rmSync(`${ledger}-shm`, { force: true });
}

/** A copy has no log beside it that could be forgotten when it is moved. */
function makeSingleFile(file: string): void {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA journal_mode = DELETE");
  } finally {
    database.close();
  }
}
