import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Fault } from "@resource-broker/base";
import { makeFolder } from "@resource-broker/runtime";
import type { Size } from "../evaluation-test.ts";
import type { RunFlags } from "./flags.ts";
import type { Machine, Noise } from "./machine.ts";

/** What a run is, and how it went. */
export interface RunRecord {
  readonly size: Size;
  readonly seed: number;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly machine: Machine;
  /** The core of the broker and those of the load; both empty: nobody was pinned. */
  readonly cores: { readonly broker: readonly number[]; readonly load: readonly number[] };
  /** The broker that was measured in place of ours. */
  readonly baseline?: string;
}

/** One finished measurement. */
export interface RawTest {
  readonly id: string;
  readonly size: Size;
  readonly seed: number;
  readonly startedAt: string;
  /** What was measured: a run may be resumed with another one. */
  readonly commit: string;
  readonly seconds: number;
  readonly noise: Noise;
  readonly result: unknown;
}

const RUN = "run.json";

/** The folder of one run's results. */
export interface RunFolder {
  readonly path: string;
  /** Undefined: nothing was written there yet. */
  readonly record: () => RunRecord | undefined;
  readonly writeRecord: (record: RunRecord) => void;
  readonly raw: (id: string) => RawTest | undefined;
  readonly writeRaw: (raw: RawTest) => void;
  readonly write: (name: string, content: string | Uint8Array) => void;
}

export function runFolder(path: string): RunFolder {
  const rawFile = (id: string): string => `raw/${id}.json`;
  const write: RunFolder["write"] = (name, content) => {
    const file = join(path, name);
    makeFolder(dirname(file));
    // Whole or not at all: a run that is killed while it writes is resumed from what is there.
    writeFileSync(`${file}.part`, content);
    renameSync(`${file}.part`, file);
  };
  return {
    path,
    record: () => readJson<RunRecord>(join(path, RUN), ["size", "seed", "machine", "startedAt"]),
    writeRecord: (record) => write(RUN, jsonText(record)),
    raw: (id) => readJson<RawTest>(join(path, rawFile(id)), ["id", "result", "size", "noise"]),
    writeRaw: (raw) => write(rawFile(raw.id), jsonText(raw)),
    write,
  };
}

/** `2026-11-15`, `2026-11-15-quick`; the second one of a day is `2026-11-15-2`. */
function newFolder(results: string, date: string, size: Size): string {
  const name = join(results, size === "full" ? date : `${date}-${size}`);
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? name : `${name}-${number}`;
    if (!existsSync(wanted)) return wanted;
  }
}

/** The run of this folder that was begun last. */
export function newestRun(results: string): string | undefined {
  return runsIn(results).at(-1);
}

/** Runs beside this one of the same size on the same machine, newest first, at most three. */
export function runsLike({ path }: RunFolder, { size, machine, baseline }: RunRecord): RunFolder[] {
  const isLike = (folder: RunFolder): boolean => {
    const other = recordIn(folder);
    return (
      other?.size === size &&
      other.baseline === baseline &&
      other.machine.cpu === machine.cpu &&
      other.machine.cores === machine.cores
    );
  };
  return runsIn(dirname(path))
    .filter((each) => each !== path)
    .map(runFolder)
    .filter(isLike)
    .reverse()
    .slice(0, 3);
}

/** Undefined: a file of somebody else. */
function recordIn(folder: RunFolder): RunRecord | undefined {
  try {
    return folder.record();
  } catch {
    return undefined;
  }
}

/** All folders with a run, in the order in which they were begun. */
function runsIn(results: string): string[] {
  if (!existsSync(results)) return [];
  return readdirSync(results)
    .map((name) => join(results, name))
    .filter((path) => existsSync(join(path, RUN)))
    .toSorted((a, b) => statSync(join(a, RUN)).mtimeMs - statSync(join(b, RUN)).mtimeMs);
}

function jsonText(value: unknown): string {
  return `${JSON.stringify(value, undefined, 1)}\n`;
}

/** What this program wrote; a file of somebody else lacks some of the keys. */
function readJson<T extends object>(file: string, keys: readonly (keyof T & string)[]): T | undefined {
  if (!existsSync(file)) return undefined;
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  const hasAll = (found: unknown): found is T =>
    typeof found === "object" && found !== null && keys.every((key) => key in found);
  if (hasAll(value)) return value;
  throw new Error(`${file} was not written by this program; name another folder with --out`);
}

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
  const path = out === undefined ? newFolder(results, now.slice(0, 10), size) : resolve(out);
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
