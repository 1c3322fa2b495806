/** `npm run kube:assets`: sees to it that a real control plane and its kubectl are on this machine. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeMissing, kubernetesVersion } from "./assets.ts";
import { buildAssets } from "./build.ts";
import { findAssetsHere, readPins } from "./find-here.ts";
import { PROGRAMS, type ProgramName } from "./recipe.ts";
import { isGoMissing, NO_GO } from "./run-go.ts";
import { describeVersions, VERSION_FLAGS } from "./versions.ts";

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;
const UNAVAILABLE = 3;
const INTERRUPTED = 130;

process.exitCode = await run(process.argv.slice(2));

async function run(args: readonly string[]): Promise<number> {
  if (args.length > 0) return fail(WRONG_USAGE, `unknown option ${args[0]}. Usage: npm run kube:assets`);
  const search = findAssetsHere(process.env);
  if (search.kind === "incomplete") return fail(UNAVAILABLE, describeMissing(search));
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  try {
    if (search.kind === "absent") {
      const version = kubernetesVersion(readPins());
      await buildAssets({ folder: search.folder, version, signal: stop.signal, say, check: versionsIn });
    }
    say(`${await versionsIn(search.folder)} are in ${search.folder}`);
    return DONE;
  } catch (error) {
    if (stop.signal.aborted) return fail(INTERRUPTED, "stopped. The next run goes on from here.");
    if (isGoMissing(error)) return fail(UNAVAILABLE, NO_GO);
    return fail(FAILED, error instanceof Error ? error.message : String(error));
  }
}

async function versionsIn(folder: string): Promise<string> {
  const ask = async (name: ProgramName) =>
    [name, (await promisify(execFile)(join(folder, name), VERSION_FLAGS[name])).stdout] as const;
  return describeVersions(new Map(await Promise.all(PROGRAMS.map(ask))));
}

function say(line: string): void {
  console.log(`kube-assets: ${line}`);
}

function fail(exitCode: number, why: string): number {
  console.error(`kube-assets: ${why}`);
  return exitCode;
}
