import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Written last: a folder without it was broken off. */
export const MARKER = "complete";

/** What decides where assets are. */
export interface AssetEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** As Node names them: `linux`, `x64`. */
  readonly platform: string;
  readonly arch: string;
  readonly exists: (path: string) => boolean;
}

export function currentEnvironment(env: AssetEnvironment["env"]): AssetEnvironment {
  const { platform, arch } = process;
  return { env, home: homedir(), platform, arch, exists: existsSync };
}

/** The text of a tool's go.mod and go.sum: they pin what is built. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

export function readPins(goModule: string): Pins {
  const read = (name: string): string => readFileSync(join(goModule, name), "utf8");
  return { goMod: read("go.mod"), goSum: read("go.sum") };
}

/** Of one tool. */
export interface Cache {
  /** The folder's name below the user's cache. */
  readonly name: string;
  /** The variable that names another place. */
  readonly variable: string;
}

export interface Build {
  /** For people: what it is, and its version. */
  readonly label: readonly string[];
  /** All that the result depends on. */
  readonly recipe: readonly unknown[];
  /** The names of what is in the finished folder. */
  readonly parts: readonly string[];
}

export interface AssetsSearch {
  readonly isThere: boolean;
  readonly folder: string;
}

/** `v1.2.0-linux-amd64-5f0c9d1a` in the cache: other pins or another recipe never overwrite this one. */
export function findBuild(environment: AssetEnvironment, cache: Cache, build: Build): AssetsSearch {
  const { label, recipe, parts } = build;
  const { platform, arch, exists } = environment;
  const hash = createHash("sha256").update(JSON.stringify(recipe)).digest("hex");
  const name = [...label, platform, arch === "x64" ? "amd64" : arch, hash.slice(0, 8)].join("-");
  const folder = join(cacheFolder(environment, cache), name);
  return { isThere: isWhole(folder, parts, exists), folder };
}

/** Whether the work was done, and nobody has removed any of it since. */
export function isWhole(
  folder: string,
  parts: readonly string[],
  exists: AssetEnvironment["exists"] = existsSync,
): boolean {
  return [MARKER, ...parts].every((name) => exists(join(folder, name)));
}

/** Outside the work tree, so that every checkout shares it. */
function cacheFolder({ env, home }: AssetEnvironment, { name, variable }: Cache): string {
  const chosen = env[variable] ?? "";
  if (chosen !== "") return chosen;
  const userCache = env["XDG_CACHE_HOME"] ?? "";
  return join(userCache === "" ? join(home, ".cache") : userCache, "resource-broker", name);
}

/** `v1.2.0`, as go.mod pins a module. */
export function pinnedRelease({ goMod }: Pick<Pins, "goMod">, module: string): string {
  const lines = goMod.split("\n").map((line) => line.trim().replace("require ", ""));
  const line = lines.find((each) => each.startsWith(`${module} v`)) ?? "";
  const version = /^v\d+\.\d+\.\d+/.exec(line.slice(module.length + 1))?.[0];
  if (version === undefined) throw new Error(`go.mod pins no release of ${module}`);
  return version;
}
