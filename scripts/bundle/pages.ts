import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const BUILD = "apps/dashboard/build.ts";
const BUILT = "apps/dashboard/dist";
/** Where the broker looks for them: beside its bundle. */
const FOLDER = "dashboard";
/** The most they may weigh together. */
const BUDGET_BYTES = 1_000_000;

export interface PagesOptions {
  /** The repository's root. */
  readonly root: string;
  readonly into: string;
}

export interface BundledPages {
  readonly folder: string;
  readonly bytes: number;
}

/** Builds the dashboard and puts its pages beside the bundles, in place of older ones. Undefined: there is no dashboard. */
export async function bundlePages({ root, into }: PagesOptions): Promise<BundledPages | undefined> {
  if (!existsSync(join(root, BUILD))) return undefined;
  await promisify(execFile)(process.execPath, [join(root, BUILD)], { cwd: root });
  const target = join(into, FOLDER);
  await rm(target, { recursive: true, force: true });
  await cp(join(root, BUILT), target, { recursive: true });
  const bytes = await bytesIn(target);
  if (bytes > BUDGET_BYTES)
    throw new Error(`the dashboard's pages weigh ${bytes} bytes; ${BUDGET_BYTES} are allowed: ${target}`);
  return { folder: FOLDER, bytes };
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => stat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
