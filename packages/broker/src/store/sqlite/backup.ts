import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { StoreFailure } from "../store.ts";
import { ledgerFileIn, openForReading, unfinishedRestore } from "./database.ts";
import { lockDirectory } from "./directory-lock.ts";
import { flush, makeDirectory } from "./durable-files.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
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
}

/**
 * Puts a copy in place of the ledger, after checking every byte of it that means something. No broker may be running.
 *
 * The ledger keeps its Ledger-ID: agents do not take it for a broker without memory, and offer nothing for adoption.
 * What was granted after the copy was made is unknown to it: asked by id it answers 404, the agents keep holding it
 * (`UnknownToBroker`), its capacity stays counted through their usage reports, and is never lent twice. What ended after
 * the copy was made is live again, until it is released or expires.
 */
export function restoreLedger({ file, directory, force = false }: RestoreOptions): Verification {
  const verification = verifyFile(file);
  if (verification.problems.length > 0) {
    throw new StoreFailure("corrupt", `${file} is not a sound copy: ${verification.problems.join("; ")}`);
  }
  makeDirectory(directory);
  const lock = lockDirectory(directory);
  try {
    replace(file, ledgerFileIn(directory), force);
  } finally {
    lock.release();
  }
  return verification;
}

function replace(copy: string, ledger: string, force: boolean): void {
  if (existsSync(ledger) && !force) {
    throw new StoreFailure(
      "not-committed",
      `there is a ledger at ${ledger}; use --force to replace it (it is kept beside)`,
    );
  }
  const unfinished = unfinishedRestore(ledger);
  copyFileSync(copy, unfinished);
  flush(unfinished);
  if (existsSync(ledger)) keepBeside(ledger, `${ledger}.replaced`);
  renameSync(unfinished, ledger);
  flush(dirname(ledger));
}

/** The log moves along: beside another database it would be applied to that one. */
function keepBeside(ledger: string, kept: string): void {
  for (const part of ["", "-wal"]) rmSync(`${kept}${part}`, { force: true });
  linkSync(ledger, kept);
  if (existsSync(`${ledger}-wal`)) renameSync(`${ledger}-wal`, `${kept}-wal`);
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
