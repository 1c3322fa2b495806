import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import { DEFAULT_RETENTION, type Retention, type Store, type StoreContents, StoreFailure } from "../store.ts";
import {
  directoryWarning,
  isBusy,
  ledgerFileIn,
  makeDirectory,
  makePrivateFile,
  sqliteFailure,
} from "./database.ts";
import { type LastCommitNote, openLastCommitNote, requireLastCommit } from "./last-commit.ts";
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts";

interface DirectoryLock {
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

/** Batch size for saving advertisements, so that a large fleet does not block commits. */
const SAVE_BATCH = 200;

export interface SqliteStoreOptions {
  readonly directory: string;
  readonly retention?: Retention;
  readonly warn?: (text: string) => void;
}

/**
 * The embedded store: one file, one process, no server. Commits run on the calling thread (docs/adr/0008
 * says what was measured); each is one transaction whose log is on the disk when it returns.
 */
export function sqliteStore(options: SqliteStoreOptions): Store {
  const { directory, retention = DEFAULT_RETENTION, warn } = options;
  const file = ledgerFileIn(directory);
  let lock: DirectoryLock | undefined;
  let ledger: LedgerFile | undefined;
  let note: LastCommitNote | undefined;

  const opened = (): LedgerFile => {
    if (ledger === undefined)
      throw new StoreFailure("not-committed", `the store in ${directory} is not open`);
    return ledger;
  };

  const open = (): StoreContents => {
    if (lock !== undefined)
      throw new StoreFailure("not-committed", `the store in ${directory} is open already`);
    makeDirectory(directory);
    const warning = directoryWarning(directory);
    if (warning !== undefined) warn?.(warning);
    lock = lockDirectory(directory);
    try {
      requireLastCommit(directory);
      ledger = openLedgerFile(file, retention, (last) => note?.write(last));
      const contents = ledger.read();
      note = openLastCommitNote(directory);
      note.write(contents);
      return contents;
    } catch (error) {
      close();
      throw withRemedy(error, file);
    }
  };

  const close = (): void => {
    try {
      note?.close();
      ledger?.close();
    } finally {
      note = undefined;
      ledger = undefined;
      lock?.release();
      lock = undefined;
    }
  };

  const saveAdvertisements = async (advertisements: readonly ReceivedAdvertisement[]): Promise<void> => {
    for (let from = 0; from < advertisements.length; from += SAVE_BATCH) {
      if (from > 0) await nextTurn();
      opened().saveAdvertisements(advertisements.slice(from, from + SAVE_BATCH));
    }
  };

  return {
    open: async () => open(),
    commit: async (batch) => opened().commit(batch),
    lastCommit: async () => opened().lastCommit(),
    saveAdvertisements,
    findDecision: async (id) => opened().findDecision(id),
    readAudit: async (query) => opened().readAudit(query),
    close: async () => close(),
  };
}

/** Adds the remedy to messages about damage, unless the message has one. */
function withRemedy(error: unknown, file: string): unknown {
  if (!(error instanceof StoreFailure) || error.kind !== "corrupt") return error;
  const { message } = error;
  if (message.includes("brokerctl restore")) return error;
  const directory = dirname(file);
  return new StoreFailure(
    "corrupt",
    `${message.startsWith(file) ? "" : `${file}: `}${message}: brokerctl restore --store sqlite:${directory} --force <copy>. ` +
      `Without a sound copy start anew: move all files out of ${directory}, last-commit too, and agents offer what they ` +
      "hold for adoption",
    { cause: error },
  );
}
