import { execFile } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

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
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n").slice(-2);
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
