/** `npm run liqo:assets`: sees to it that Liqo's definitions and its liqoctl are on this machine. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { isGoMissing } from "../kube-assets/run-go.ts";
import { findLiqoHere, liqoVersion, readPins } from "./assets.ts";
import { fetchAssets } from "./fetch.ts";
import { PROGRAM } from "./recipe.ts";

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const UNAVAILABLE = 3;
const INTERRUPTED = 130;

const NO_GO =
  "Go is not installed, and Liqo is not on this machine. Install Go 1.25 or newer and run this again.";

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<number> {
  if (args.length > 0) return fail(WRONG_USAGE, `unknown option ${args[0]}. Usage: npm run liqo:assets`);
  const { isThere, folder } = findLiqoHere(process.env);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    if (!isThere) {
      const version = liqoVersion(readPins());
      await fetchAssets({ folder, version, signal: stop.signal, say, check: describe });
    }
    say(`${await describe(folder)} are in ${folder}`);
    return DONE;
  } catch (error) {
    if (stop.signal.aborted) return fail(INTERRUPTED, "stopped. The next run goes on from here.");
    if (isGoMissing(error)) return fail(UNAVAILABLE, NO_GO);
    return fail(FAILED, error instanceof Error ? error.message : String(error));
  }
}

async function describe(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(join(folder, PROGRAM), ["version", "--client"]);
  const wanted = liqoVersion(readPins());
  if (!stdout.includes(wanted)) throw new Error(`liqoctl is not ${wanted} but says: ${stdout.trim()}`);
  const count = readdirSync(join(folder, "crds")).length;
  if (count === 0) throw new Error("Liqo's module has no definitions where they are looked for.");
  return `liqoctl ${wanted} and ${count} definitions`;
}

function say(line: string): void {
  console.log(`liqo-assets: ${line}`);
}

function fail(exitCode: number, why: string): number {
  console.error(`liqo-assets: ${why}`);
  return exitCode;
}
