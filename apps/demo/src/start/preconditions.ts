import { execFile } from "node:child_process";
import { once } from "node:events";
import { glob, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { errorText, Fault } from "@resource-broker/base";

const HOST = "127.0.0.1";

/** Throws a Fault that names the flag when the broker could not listen there. */
export async function checkPort(port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, "listening");
  } catch (error) {
    throw new Fault("conflict", `--port: ${problemWith(port, error)}`, { cause: error });
  }
  server.close();
  await once(server, "close");
}

function problemWith(port: number, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `another process listens on ${HOST}:${port}; stop it, choose another port, or leave --port out`;
  if (code === "EACCES") return `${port} may not be used by this account; choose one above 1023`;
  return `${HOST}:${port} cannot be used: ${errorText(error)}`;
}

const MIB = 1024 ** 2;
/** Ledger, logs and certificates of a fleet for an afternoon. */
const NEEDED_MIB = 16;

/** Throws a Fault with the remedy when what a demo writes would not fit there. */
export async function checkSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const leftMib = (bavail * bsize) / MIB;
  if (leftMib >= NEEDED_MIB) return;
  throw new Fault(
    "store-unavailable",
    `the disk with ${folder} is full (${leftMib.toFixed(1)} MiB left of the ${NEEDED_MIB} that a demo needs): free some space there, or name a folder on another disk with --keep`,
  );
}

/** As the system, SQLite and PostgreSQL say it. */
const DISK_FULL = /ENOSPC|no space left|disk is full|SQLITE_FULL/iu;
const NOT_WRITABLE: Readonly<Record<string, string>> = {
  EACCES: "may not be written by this account",
  EPERM: "may not be written by this account",
  EROFS: "is on a disk that cannot be written",
  ENOTDIR: "cannot be made: a part of its path is a file",
  EEXIST: "is a file, not a folder",
};

/** What kept the demo from starting, with the remedy where there is a usual one. */
export function describeStart(error: unknown, folder: string): unknown {
  if (error instanceof Fault) return error;
  const message = errorText(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC" || DISK_FULL.test(message)) {
    const text = `the disk with ${folder} is full: free some space there, or name a folder on another disk with --keep`;
    return new Fault("store-unavailable", text, { cause: error });
  }
  const problem = NOT_WRITABLE[code];
  if (problem !== undefined)
    return new Fault("invalid", `${folder} ${problem}; name another folder with --keep`, { cause: error });
  return error;
}

const DASHBOARD = fileURLToPath(new URL("../../../dashboard/", import.meta.url));
const SOURCES = ["build.ts", "index.html", "package.json", "public/**/*", "src/**/*"];
const BUILT = "dist/index.html";
const TIMEOUT_MS = 120_000;

const run = promisify(execFile);

/** What the pages are made of, and what makes them. */
export interface PagesFolder {
  readonly folder: string;
  readonly build: () => Promise<unknown>;
}

const THE_PAGES: PagesFolder = {
  folder: DASHBOARD,
  build: () => run(process.execPath, [join(DASHBOARD, "build.ts")], { timeout: TIMEOUT_MS }),
};

/**
 * Sees to it that the dashboard's pages are there and as new as their sources. Undefined: they are. Else what keeps them from it, in
 * words: then the rest of the demo works without them.
 */
export async function buildPages(
  say: (text: string) => void,
  { folder, build }: PagesFolder = THE_PAGES,
): Promise<string | undefined> {
  const builtAt = await changedAt(join(folder, BUILT));
  const sourcesAt = await newestIn(folder);
  if (sourcesAt === 0) return "this copy has no dashboard";
  if (builtAt >= sourcesAt) return undefined;
  say("builds the dashboard's pages, which takes some seconds and is done once");
  try {
    await build();
    return undefined;
  } catch (error) {
    const [first = ""] = errorText(error).split("\n").slice(-2);
    return `its pages cannot be built (npm run dashboard:build says why): ${first}`;
  }
}

async function newestIn(folder: string): Promise<number> {
  let newest = 0;
  for await (const name of glob(SOURCES, { cwd: folder }))
    newest = Math.max(newest, await changedAt(join(folder, name)));
  return newest;
}

/** 0: it is not there. */
async function changedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
