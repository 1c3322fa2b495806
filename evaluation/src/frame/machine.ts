import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release } from "node:os";
import type { Size } from "../evaluation-test.ts";

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
