import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "@resource-broker/runtime";
import type { Size } from "../evaluation-test.ts";
import type { Machine } from "./machine.ts";
import type { Noise } from "./noise.ts";

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
    record: () => readJson<RunRecord>(join(path, RUN), isRecord),
    writeRecord: (record) => write(RUN, jsonText(record)),
    raw: (id) => readJson<RawTest>(join(path, rawFile(id)), isRaw),
    writeRaw: (raw) => write(rawFile(raw.id), jsonText(raw)),
    write,
  };
}

/** `2026-11-15`, `2026-11-15-quick`; the second one of a day is `2026-11-15-2`. */
export function newFolderName(date: string, size: Size, isTaken: (name: string) => boolean): string {
  const name = size === "full" ? date : `${date}-${size}`;
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? name : `${name}-${number}`;
    if (!isTaken(wanted)) return wanted;
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

function readJson<T>(file: string, isAsExpected: (value: unknown) => value is T): T | undefined {
  if (!existsSync(file)) return undefined;
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!isAsExpected(value))
    throw new Error(`${file} was not written by this program; name another folder with --out`);
  return value;
}

function isRecord(value: unknown): value is RunRecord {
  return has(value, "size") && has(value, "seed") && has(value, "machine") && has(value, "startedAt");
}

function isRaw(value: unknown): value is RawTest {
  return has(value, "id") && has(value, "result") && has(value, "size") && has(value, "noise");
}

function has(value: unknown, key: string): value is object {
  return typeof value === "object" && value !== null && key in value;
}
