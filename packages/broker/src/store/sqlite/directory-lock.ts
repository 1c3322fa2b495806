import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StoreFailure } from "../store.ts";
import { makePrivateFile } from "./durable-files.ts";
import { isBusy, sqliteFailure } from "./sqlite-failure.ts";

export interface DirectoryLock {
  readonly release: () => void;
}

/** Keeps references to open locks: the garbage collector would close them. */
const openLocks = new Set<DatabaseSync>();

/**
 * Takes the directory for this process until it releases it or dies, however it dies: the lock is the operating
 * system's (Node has no call for one, SQLite does), so nothing stale can be left behind. It lies on a file of its own,
 * so that a backup or a check can read the ledger meanwhile.
 *
 * Nothing in this process may open the lock file by other means: closing it would drop the lock.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const file = join(directory, "lock");
  const holderFile = join(directory, "lock.holder");
  const database = openLock(file);
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw isBusy(error) ? inUse(directory, holderOf(holderFile)) : sqliteFailure(error, file);
  }
  openLocks.add(database);
  // Used only in the error message of another process; the lock does not depend on it.
  ignoreErrors(() => writeFileSync(holderFile, `${process.pid} ${hostname()}\n`, { mode: 0o600 }));
  return {
    release: () => {
      ignoreErrors(() => rmSync(holderFile, { force: true }));
      openLocks.delete(database);
      database.close();
    },
  };
}

function openLock(file: string): DatabaseSync {
  makePrivateFile(file);
  try {
    return new DatabaseSync(file);
  } catch (error) {
    throw sqliteFailure(error, file);
  }
}

function inUse(directory: string, holder: string): StoreFailure {
  return new StoreFailure(
    "not-committed",
    `another broker${holder} uses ${directory}; stop it or choose another --store`,
  );
}

function holderOf(file: string): string {
  let text = "";
  ignoreErrors(() => {
    text = readFileSync(file, "utf8");
  });
  const [pid, host] = text.trim().split(" ");
  if (!pid) return "";
  return host === undefined || host === hostname() ? ` (process ${pid})` : ` (process ${pid} on ${host})`;
}

function ignoreErrors(attempt: () => void): void {
  try {
    attempt();
  } catch {
    // Best effort by design: see the callers.
  }
}
