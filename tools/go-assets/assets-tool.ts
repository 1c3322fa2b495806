import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type AssetsList, bring, buildArgs, isWhole, namesIn } from "./bring.ts";
import { BUILD_ENV, duration, isGoMissing } from "./go.ts";

/** One of the things that only Go can make, and how it is made. */
export interface Assets {
  /** `kube-assets`: the folder in the user's cache. KUBE_ASSETS_CACHE names another place, `npm run kube:assets` brings it. */
  readonly name: string;
  /** For people: what it is, and its version. The folder's name begins with it. */
  readonly label: string;
  /** What is brought, in a sentence: `Liqo v1.2.0`. */
  readonly what: string;
  readonly firstTimeTakes: string;
  /** What is said where it takes Go and there is none. */
  readonly noGo: string;
  /** The folder with go.mod and go.sum, which pin what is built. */
  readonly goModule: string;
  readonly list: AssetsList;
  /** All that the result depends on: another recipe is another folder. */
  readonly recipe: readonly unknown[];
  /** A folder that the user names instead: it is used as it is, and must be whole. */
  readonly given?: (env: Environment) => { readonly folder: string; readonly refusal?: string } | undefined;
  /** One line for people on what is in the folder; throws where that is not what was wanted. */
  readonly describe: (folder: string) => Promise<string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The text of go.mod and go.sum. */
export interface Pins {
  readonly goMod: string;
  readonly goSum: string;
}

export function readPins(goModule: string): Pins {
  const read = (name: string): string => readFileSync(join(goModule, name), "utf8");
  return { goMod: read("go.mod"), goSum: read("go.sum") };
}

/** All that a list depends on. */
export function recipeOf({ goMod, goSum }: Pins, { copies, programs }: AssetsList): readonly unknown[] {
  return [goMod, goSum, BUILD_ENV, copies, programs, programs.map((program) => buildArgs(program, ""))];
}

/** `v1.2.0`, as go.mod pins a module. */
export function pinnedRelease({ goMod }: Pick<Pins, "goMod">, module: string): string {
  const lines = goMod.split("\n").map((line) => line.trim().replace("require ", ""));
  const line = lines.find((each) => each.startsWith(`${module} v`)) ?? "";
  const version = /^v\d+\.\d+\.\d+/.exec(line.slice(module.length + 1))?.[0];
  if (version === undefined) throw new Error(`go.mod pins no release of ${module}`);
  return version;
}

/** What a program of a folder prints. */
export async function printedBy(folder: string, name: string, ...args: readonly string[]): Promise<string> {
  return (await promisify(execFile)(join(folder, name), args)).stdout.trim();
}

export interface AssetsSearch {
  readonly isThere: boolean;
  readonly folder: string;
  /** Why they can be neither found nor brought. */
  readonly refusal?: string;
}

/** Looks on this machine: `v1.2.0-linux-amd64-5f0c9d1a` in the cache. Other pins or another recipe never overwrite this one. */
export function findAssets(assets: Assets, env: Environment, exists = existsSync): AssetsSearch {
  const given = assets.given?.(env);
  if (given !== undefined) return { isThere: given.refusal === undefined, ...given };
  const hash = createHash("sha256").update(JSON.stringify(assets.recipe)).digest("hex").slice(0, 8);
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const folder = join(cacheFolder(assets, env), `${assets.label}-${process.platform}-${arch}-${hash}`);
  return { isThere: isWhole(folder, namesIn(assets.list), exists), folder };
}

/** Outside the work tree, so that every checkout shares it. */
function cacheFolder({ name }: Assets, env: Environment): string {
  const chosen = env[`${name.replace("-", "_").toUpperCase()}_CACHE`] ?? "";
  if (chosen !== "") return chosen;
  const userCache = env["XDG_CACHE_HOME"] ?? "";
  return join(
    userCache === "" ? join(env["HOME"] ?? homedir(), ".cache") : userCache,
    "resource-broker",
    name,
  );
}

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const UNAVAILABLE = 3;
const LATE = 4;
const INTERRUPTED = 130;

/** Why the work is broken off. */
const OUT_OF_TIME = new Error("out of time");
/** The longest that a timer can run: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** Sees to it that the assets are on this machine. Returns the exit code. */
export async function runAssetsTool(assets: Assets, args: readonly string[]): Promise<number> {
  const fail: Fail = (exitCode, why) => {
    console.error(`${assets.name}: ${why}`);
    return exitCode;
  };
  const command = readCommand(args);
  if (command.kind === "unknown") return fail(WRONG_USAGE, `${command.problem}. ${usage(assets)}`);
  if (command.kind === "help") {
    console.log(usage(assets));
    return DONE;
  }
  const { isThere, folder, refusal } = findAssets(assets, process.env);
  if (refusal !== undefined) return fail(UNAVAILABLE, refusal);
  if (command.kind === "bring") return bringWithin(assets, { isThere, folder, ...command, fail });
  if (!isThere)
    return fail(UNAVAILABLE, `${describeLacks(assets, folder)}. Run npm run ${scriptOf(assets)}.`);
  console.log(folder);
  return DONE;
}

type Fail = (exitCode: number, why: string) => number;

interface Bringing {
  readonly folder: string;
  readonly isThere: boolean;
  readonly withinMs: number;
  readonly fail: Fail;
}

async function bringWithin(assets: Assets, { folder, isThere, withinMs, fail }: Bringing): Promise<number> {
  const log = (line: string): void => console.log(`${assets.name}: ${line}`);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const timer = setTimeout(() => stop.abort(OUT_OF_TIME), withinMs);
  try {
    const { goModule, list, what, firstTimeTakes, describe: check } = assets;
    const announcement = `${what} goes to ${folder}; the first time takes ${firstTimeTakes}.`;
    if (!isThere) await bring({ folder, goModule, list, announcement, signal: stop.signal, log, check });
    log(`${await check(folder)} are in ${folder}`);
    return DONE;
  } catch (error) {
    if (stop.signal.reason === OUT_OF_TIME) {
      const lacks = describeLacks(assets, folder);
      return fail(LATE, `not done within ${duration(withinMs)}: ${lacks}. The next run goes on from here.`);
    }
    if (stop.signal.aborted) return fail(INTERRUPTED, "stopped. The next run goes on from here.");
    if (isGoMissing(error)) return fail(UNAVAILABLE, assets.noGo);
    return fail(FAILED, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

function describeLacks({ list }: Assets, folder: string): string {
  const missing = namesIn(list).filter((name) => !existsSync(join(folder, name)));
  return `${folder} lacks ${missing.length === 0 ? "the last check" : missing.join(", ")}`;
}

type AssetsCommand =
  | { readonly kind: "bring"; readonly withinMs: number }
  | { readonly kind: "where" | "help" }
  | { readonly kind: "unknown"; readonly problem: string };

function readCommand(args: readonly string[]): AssetsCommand {
  const [option, minutes = ""] = args;
  if (option === undefined) return { kind: "bring", withinMs: LONGEST_MS };
  if (option === "--within" && args.length <= 2) return withinIn(minutes);
  if (option === "--where" && args.length === 1) return { kind: "where" };
  if (option === "--help" && args.length === 1) return { kind: "help" };
  return { kind: "unknown", problem: `unknown option ${args.join(" ")}` };
}

function withinIn(minutes: string): AssetsCommand {
  if (minutes === "") return { kind: "unknown", problem: "--within lacks its number of minutes" };
  const withinMs = Number(minutes) * 60_000;
  return withinMs > 0 && withinMs < LONGEST_MS
    ? { kind: "bring", withinMs }
    : { kind: "unknown", problem: `--within ${minutes} is no number of minutes` };
}

/** The npm script that runs it. */
function scriptOf({ name }: Assets): string {
  return name.replace("-", ":");
}

function usage(assets: Assets): string {
  return (
    `Usage: npm run ${scriptOf(assets)} [-- --within MINUTES | --where]\n` +
    `  --within MINUTES  stops when they are over, with exit code ${LATE}; the next run goes on from there\n` +
    "  --where           brings nothing, and prints the folder if all is in it, else what it lacks"
  );
}
