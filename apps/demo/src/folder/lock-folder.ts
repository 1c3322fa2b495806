import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "@resource-broker/contract";

const LOCK = "demo.lock";
/** What locking leaves in a folder. */
export const LOCK_FILES: readonly string[] = [LOCK, `${LOCK}-journal`];
const BUSY = 5;

/**
 * Takes the folder for this process until it is released or dies, however it dies: the lock is the operating system's
 * (Node has no call for one, SQLite does), so nothing stale is left behind.
 */
export function lockFolder(folder: string): () => void {
  const database = new DatabaseSync(join(folder, LOCK));
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw isBusy(error) ? inUse(folder) : error;
  }
  return () => {
    if (database.isOpen) database.close();
  };
}

function inUse(folder: string): Fault {
  return new Fault(
    "conflict",
    `--keep: another npm start runs in ${folder}; end that one, or name another folder`,
  );
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === BUSY;
}
