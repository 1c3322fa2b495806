import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { ReceivedAdvertisement } from "@resource-broker/domain";
import { DEFAULT_RETENTION, type Retention } from "../common/retention.ts";
import { type Store, type StoreContents, StoreFailure } from "../store.ts";
import { ledgerFileIn } from "./database.ts";
import { type DirectoryLock, lockDirectory } from "./directory-lock.ts";
import { directoryWarning, makeDirectory } from "./durable-files.ts";
import { type LastCommitNote, openLastCommitNote, requireLastCommit } from "./last-commit.ts";
import { type LedgerFile, openLedgerFile } from "./ledger-file.ts";

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
