import { randomBytes } from "node:crypto";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "@resource-broker/runtime";
import { CommandError } from "../cli/exit-code.ts";

export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

export interface FileToWrite {
  readonly path: string;
  readonly text: string;
  readonly mode: typeof PRIVATE | typeof PUBLIC;
}

/**
 * Writes files so that no reader ever sees half of one: all are written and flushed beside their places first, then
 * each takes its place in one step. A crash leaves the old file or the new one.
 */
export async function writeFiles(files: readonly FileToWrite[]): Promise<void> {
  const suffix = randomBytes(6).toString("hex");
  const temporary = (path: string): string => `${path}.${suffix}.tmp`;
  try {
    for (const { path, text, mode } of files) await writeFlushed(temporary(path), text, mode);
    for (const { path } of files) await rename(temporary(path), path);
    for (const folder of new Set(files.map(({ path }) => dirname(path)))) await flushFolder(folder);
  } catch (error) {
    // A cleanup error is ignored: the first error is reported.
    for (const { path } of files) await rm(temporary(path), { force: true }).catch(() => undefined);
    throw asCommandError(error);
  }
}

/** Makes a folder that only its owner can look into; one that is there stays as it is. True: it is new. */
export function makePrivateFolder(folder: string): boolean {
  try {
    return makeFolder(folder, 0o700) !== undefined;
  } catch (error) {
    throw asCommandError(error);
  }
}

/** The text of a file; undefined when there is none. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw asCommandError(error);
  }
}

export async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined); // whatever is wrong with it, it is no folder to read
  return found?.isDirectory() === true;
}

/** The names of the folders in a folder, in order; none when it is not there. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    throw asCommandError(error);
  }
}

/** An error of the file system becomes a one-line message. Other errors are bugs and are not converted. */
export function asCommandError(error: unknown): unknown {
  const isRefusal = error instanceof Error && "syscall" in error;
  return isRefusal ? new CommandError("error", error.message, { cause: error }) : error;
}

/** Makes the new names last through a power cut, in the order they were written. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeFlushed(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.chmod(mode); // the umask may have taken bits away
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
