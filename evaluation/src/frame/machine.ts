import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release } from "node:os";
import type { Context, Size } from "../evaluation-test.ts";

/** What figures depend on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMb: number;
  readonly availableMb: number;
  /** Over the last minute, before anything was measured. */
  readonly load: number;
  readonly system: string;
  readonly node: string;
  /** Of this repository; with a `+` where files differ from it. */
  readonly commit: string;
}

export function describeMachine(root: string): Machine {
  const memory = readFileSync("/proc/meminfo", "utf8");
  const mb = (name: string): number =>
    Math.round((Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(memory)?.[1] ?? 0) * 1024) / 1e6);
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryMb: mb("MemTotal"),
    availableMb: mb("MemAvailable"),
    load: loadavg()[0] ?? 0,
    system: `Linux ${release()}`,
    node: process.version,
    commit: commitOf(root),
  };
}

/** In a clone without git, or a copy that is no clone, nobody knows. */
function commitOf(root: string): string {
  try {
    const git = (...args: readonly string[]): string =>
      execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain", "--untracked-files=no") === "" ? "" : "+"}`;
  } catch {
    return "unknown";
  }
}

interface Need {
  readonly cores: number;
  readonly availableMb: number;
  readonly loadPerCore: number;
}

/** The whole has 100 agents at 60 MB, and 10,000 clients. In a smoke run figures mean nothing, so it needs nothing. */
const NEEDS: Readonly<Record<Size, Need | undefined>> = {
  smoke: undefined,
  quick: { cores: 2, availableMb: 3_000, loadPerCore: 0.5 },
  full: { cores: 2, availableMb: 12_000, loadPerCore: 0.25 },
};

/** Why figures from this machine would be worth little now, in words. */
export function objectionsTo({ cores, availableMb, load }: Machine, size: Size): string[] {
  const need = NEEDS[size];
  if (need === undefined) return [];
  const objections: string[] = [];
  if (cores < need.cores)
    objections.push(`it has ${cores} core: the broker and its load would take each other's time`);
  if (availableMb < need.availableMb)
    objections.push(`${availableMb} MB of memory are free, ${need.availableMb} are needed`);
  if (load > need.loadPerCore * cores)
    objections.push(
      `it is busy: a load of ${load.toFixed(1)} on ${cores} cores (at most ${need.loadPerCore * cores} would do)`,
    );
  return objections;
}

type Cores = Context["cores"];

/** Ten thousand clients with two connections each, and some to spare. */
const OPEN_FILES = 32_768;

/** The first core is the broker's alone; everything else has the others. With one core, or none to choose: nobody is told. */
export function divideCores(allowed: readonly number[]): Cores {
  const [first, ...others] = allowed;
  return first === undefined || others.length === 0
    ? { broker: [], load: [] }
    : { broker: [first], load: others };
}

/** `0-2,7` → 0, 1, 2, 7. */
export function readCoreList(text: string): number[] {
  return text
    .trim()
    .split(",")
    .filter((part) => part !== "")
    .flatMap((part) => {
      const [from = 0, to = from] = part.split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
}

/** Pins this process, and so all it starts, to the cores of the load. Nobody is pinned where that cannot be done. */
export function pinToCores(): Cores {
  const status = readFileSync("/proc/self/status", "utf8");
  const cores = divideCores(readCoreList(/^Cpus_allowed_list:\s*(.+)$/m.exec(status)?.[1] ?? ""));
  if (cores.load.length === 0) return cores;
  const isPinned = succeeds("taskset", "-a", "-c", "-p", cores.load.join(","), String(process.pid));
  return isPinned ? cores : { broker: [], load: [] };
}

/** As many as may be: the limit of those who are not root cannot be raised beyond what is set for them. */
export function raiseOpenFiles(): void {
  const pid = String(process.pid);
  const isRaised = succeeds("prlimit", `--nofile=${OPEN_FILES}:${OPEN_FILES}`, "--pid", pid);
  const [, , hard] = /^Max open files\s+(\d+)\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  if (!isRaised && hard !== undefined) succeeds("prlimit", `--nofile=${hard}:`, "--pid", pid);
}

/** How many files and connections a process of ours may have open. */
export function openFileLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? 1024);
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const ROUNDS = 9;
const BLOCK = Buffer.alloc(1 << 20, 7);
const BLOCKS = 12;

/** How quiet the machine was while a test ran. */
export interface Noise {
  readonly loadBefore: number;
  /** The same piece of work, again and again, just before: how long it took each time. */
  readonly sameWorkMs: readonly number[];
  /** What the machine below this one took away meanwhile, in percent of all cores (`steal` of /proc/stat). */
  readonly stolenPercent: number;
}

/** Begins to watch; what it returns tells what was seen. */
export function watchNoise(): () => Noise {
  const loadBefore = loadavg()[0] ?? 0;
  const sameWorkMs = Array.from({ length: ROUNDS }, workMs);
  const before = readTimes(readFileSync("/proc/stat", "utf8"));
  return () => {
    const after = readTimes(readFileSync("/proc/stat", "utf8"));
    const total = after.total - before.total;
    return {
      loadBefore,
      sameWorkMs,
      stolenPercent: total === 0 ? 0 : (100 * (after.stolen - before.stolen)) / total,
    };
  };
}

export function readTimes(stat: string): { readonly total: number; readonly stolen: number } {
  const times = (/^cpu\s+(.+)$/m.exec(stat)?.[1] ?? "").split(" ").map(Number);
  // user, nice, system, idle, iowait, irq, softirq, steal; guest times are in user and nice already.
  const counted = times.slice(0, 8);
  return { total: counted.reduce((sum, time) => sum + time, 0), stolen: counted[7] ?? 0 };
}

function workMs(): number {
  const beganAt = performance.now();
  const hash = createHash("sha256");
  for (let block = 0; block < BLOCKS; block++) hash.update(BLOCK);
  hash.digest();
  return performance.now() - beganAt;
}
