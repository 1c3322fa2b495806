import { randomBytes } from "node:crypto";
import { open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { makeFolder } from "@resource-broker/runtime";
import type { Host } from "../cli/command.ts";
import { CommandError } from "../cli/exit-code.ts";

/** The broker's own name: its certificate's Common Name, so no cluster may bear it. */
export const BROKER = "broker";
/** What `certs show` calls the authority of joining clusters, and the name of its folder. A cluster may have the same name. */
export const ENROLLMENT = "enrollment";
/** The admin authority's certificate in the broker's folder: the broker finds it there by itself. */
export const ADMIN_CA = "admin-ca.crt";

/** Where everything lies below `--dir`. The clusters have a folder of their own: one may well be called "ca". */
export interface Layout {
  readonly dir: string;
  readonly ca: string;
  readonly caCert: string;
  readonly caKey: string;
  /** The authority that signs admins. Folders of earlier versions have none. */
  readonly adminCert: string;
  readonly adminKey: string;
  /** The authority below `ca` with which a broker signs the certificates of agents that join. */
  readonly enrollment: string;
  /** Everything this authority ever issued and revoked. */
  readonly register: string;
  readonly crl: string;
  readonly broker: string;
  readonly clusters: string;
  readonly lock: string;
}

export function layoutOf(dir: string): Layout {
  const ca = join(dir, "ca");
  return {
    dir,
    ca,
    caCert: join(ca, "ca.crt"),
    caKey: join(ca, "ca.key"),
    adminCert: join(ca, ADMIN_CA),
    adminKey: join(ca, "admin-ca.key"),
    enrollment: join(dir, ENROLLMENT),
    register: join(ca, "issued.json"),
    crl: join(ca, "crl.pem"),
    broker: join(dir, BROKER),
    clusters: join(dir, "clusters"),
    lock: join(dir, ".lock"),
  };
}

export function folderOf(layout: Layout, name: string): string {
  return name === BROKER ? layout.broker : join(layout.clusters, name);
}

/** The broker and every cluster that has a folder. */
export async function namesIn(layout: Layout): Promise<readonly string[]> {
  return [BROKER, ...(await foldersIn(layout.clusters))];
}

/** True: a key or a certificate of that name would be overwritten. */
export async function holdsKey(layout: Layout, name: string): Promise<boolean> {
  const folder = folderOf(layout, name);
  return isAnyThere([join(folder, "tls.key"), join(folder, "tls.crt")]);
}

const LOCK_RETRY = { attempts: 200, pauseMs: 50 };
/** Shorter waits are not worth a word. */
const FIRST_NOTE = 10;

/** One command at a time may sign: two would write the register over each other and forget a certificate. */
export async function withLock<Result>(
  layout: Layout,
  host: Host,
  work: () => Promise<Result>,
): Promise<Result> {
  await acquireLock(layout.lock, host);
  try {
    return await work();
  } finally {
    await rm(layout.lock, { force: true });
  }
}

async function acquireLock(path: string, host: Host): Promise<void> {
  for (let attempt = 0; attempt < LOCK_RETRY.attempts; attempt++) {
    if (await tryLock(path)) return;
    const holder = await holderOf(path);
    if (holder !== undefined && !isRunning(holder))
      await rm(path, { force: true }); // it was killed
    else {
      if (attempt === FIRST_NOTE)
        host.note(`Waiting for another brokerctl (process ${holder ?? "unknown"}) …\n`);
      await pause(LOCK_RETRY.pauseMs);
    }
  }
  throw new CommandError(
    "conflict",
    `another brokerctl (process ${(await holderOf(path)) ?? "unknown"}) is using this folder. Try again. If no such process exists, remove ${path}`,
  );
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw asCommandError(error);
  }
}

/** Undefined: the lock was given back meanwhile, or its holder has not written its number yet. */
async function holderOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  return /^[0-9]+$/u.test(text) ? Number(text) : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

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

/** The text of a file that an option names; `names` says which and for what. A name that is none is a wrong command line. */
export async function readNamedFile(path: string, names: string): Promise<string> {
  if (await isDirectory(path)) throw new CommandError("usage", `${path} is a folder: ${names}`);
  const text = await readText(path);
  if (text === undefined) throw new CommandError("usage", `there is no ${path}: ${names}`);
  return text;
}

export async function isAnyThere(paths: readonly string[]): Promise<boolean> {
  const texts = await Promise.all(paths.map(readText));
  return texts.some((text) => text !== undefined);
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
