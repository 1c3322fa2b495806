import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Fault } from "@resource-broker/base";
import type { Size } from "../evaluation-test.ts";
import type { RunFlags } from "./flags.ts";
import { newestRun, newFolderName, type RunFolder, type RunRecord, runFolder } from "./run-folder.ts";

const DEFAULT_SEED = 1;

export interface ChosenRun {
  readonly folder: RunFolder;
  readonly size: Size;
  readonly seed: number;
}

/** A new run, or the one to go on with. */
export function chooseRun(flags: RunFlags, results: string, now: string): ChosenRun {
  return flags.resumes ? oldRun(flags, results) : newRun(flags, results, now);
}

function newRun(
  { size = "full", seed = DEFAULT_SEED, out }: RunFlags,
  results: string,
  now: string,
): ChosenRun {
  const isTaken = (name: string): boolean => existsSync(join(results, name));
  const path =
    out === undefined ? join(results, newFolderName(now.slice(0, 10), size, isTaken)) : resolve(out);
  const folder = runFolder(path);
  if (folder.record() !== undefined)
    throw refusal(`${path} has results already: go on with them by --resume, or name another folder`);
  return { folder, size, seed };
}

function oldRun(flags: RunFlags, results: string): ChosenRun {
  const path = flags.out === undefined ? newestRun(results) : resolve(flags.out);
  const folder = runFolder(path ?? results);
  const record = folder.record();
  if (record === undefined) throw refusal(`--resume: there is no run to go on with in ${folder.path}`);
  const difference = differenceTo(record, flags);
  if (difference !== undefined) throw refusal(`--resume: the run in ${folder.path} ${difference}`);
  return { folder, size: record.size, seed: record.seed };
}

/** What was measured so far must fit to what is asked for now. */
function differenceTo(record: RunRecord, { size, seed, baseline }: RunFlags): string | undefined {
  if (size !== undefined && size !== record.size) return `is a ${record.size} one, not ${size}`;
  if (seed !== undefined && seed !== record.seed) return `has seed ${record.seed}, not ${seed}`;
  if (baseline?.url !== record.baseline) return `measures ${record.baseline ?? "our own broker"}`;
  return undefined;
}

function refusal(message: string): Fault {
  return new Fault("invalid", message);
}
