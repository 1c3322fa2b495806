import { closeSync, existsSync, fsyncSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolder } from "@resource-broker/runtime";
import { sqliteFailure } from "./sqlite-failure.ts";

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
