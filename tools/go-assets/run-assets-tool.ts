import { existsSync } from "node:fs";
import { join } from "node:path";
import { duration } from "./progress.ts";
import { isGoMissing } from "./run-go.ts";

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

/** What is to be brought, and where to. */
export interface AssetsJob {
  readonly folder: string;
  /** The names of what is in the finished folder. */
  readonly parts: readonly string[];
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
  /** Looks at the finished folder; throws where it is not what was wanted. */
  readonly check: (folder: string) => Promise<string>;
}

/** A program that sees to it that something which only Go can make is on this machine. */
export interface AssetsTool {
  /** For messages: `kube-assets`. */
  readonly name: string;
  /** The npm script that runs it. */
  readonly script: string;
  /** What is said where it takes Go and there is none. */
  readonly noGo: string;
  /** The names of what is in the finished folder. */
  readonly parts: readonly string[];
  /** Where they are or would be; or why they can be neither found nor brought. */
  readonly find: () => { readonly folder: string; readonly isThere: boolean } | { readonly refusal: string };
  readonly bring: (errand: AssetsJob) => Promise<void>;
  /** One line for people on what is in the folder; throws where that is not what was wanted. */
  readonly describe: (folder: string) => Promise<string>;
}

/** Its exit code. */
export async function runAssetsTool(tool: AssetsTool, args: readonly string[]): Promise<number> {
  const fail: Fail = (exitCode, why) => {
    console.error(`${tool.name}: ${why}`);
    return exitCode;
  };
  const command = readCommand(args);
  if (command.kind === "unknown") return fail(WRONG_USAGE, `${command.problem}. ${usage(tool)}`);
  if (command.kind === "help") {
    console.log(usage(tool));
    return DONE;
  }
  const search = tool.find();
  if ("refusal" in search) return fail(UNAVAILABLE, search.refusal);
  if (command.kind === "bring") return bringWithin(tool, { ...search, ...command, fail });
  if (!search.isThere)
    return fail(UNAVAILABLE, `${describeLacks(tool, search.folder)}. Run npm run ${tool.script}.`);
  console.log(search.folder);
  return DONE;
}

type Fail = (exitCode: number, why: string) => number;

interface Bringing {
  readonly folder: string;
  readonly isThere: boolean;
  readonly withinMs: number;
  readonly fail: Fail;
}

async function bringWithin(tool: AssetsTool, { folder, isThere, withinMs, fail }: Bringing): Promise<number> {
  const log = (line: string): void => console.log(`${tool.name}: ${line}`);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const timer = setTimeout(() => stop.abort(OUT_OF_TIME), withinMs);
  try {
    const { parts, describe: check } = tool;
    if (!isThere) await tool.bring({ folder, parts, signal: stop.signal, log, check });
    log(`${await tool.describe(folder)} are in ${folder}`);
    return DONE;
  } catch (error) {
    if (stop.signal.reason === OUT_OF_TIME) return fail(LATE, describeLate(tool, folder, withinMs));
    if (stop.signal.aborted) return fail(INTERRUPTED, "stopped. The next run goes on from here.");
    if (isGoMissing(error)) return fail(UNAVAILABLE, tool.noGo);
    return fail(FAILED, error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

function describeLate(tool: AssetsTool, folder: string, withinMs: number): string {
  const lacks = describeLacks(tool, folder);
  return `not done within ${duration(withinMs)}: ${lacks}. The next run goes on from here.`;
}

function describeLacks({ parts }: AssetsTool, folder: string): string {
  const missing = parts.filter((name) => !existsSync(join(folder, name)));
  return `${folder} lacks ${missing.length === 0 ? "the last check" : missing.join(", ")}`;
}

type AssetsCommand =
  | { readonly kind: "bring"; readonly withinMs: number }
  | { readonly kind: "where" }
  | { readonly kind: "help" }
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

function usage({ script }: AssetsTool): string {
  return (
    `Usage: npm run ${script} [-- --within MINUTES | --where]\n` +
    `  --within MINUTES  stops when they are over, with exit code ${LATE}; the next run goes on from there\n` +
    "  --where           brings nothing, and prints the folder if all is in it, else what it lacks"
  );
}
