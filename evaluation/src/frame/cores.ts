import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Context } from "../evaluation-test.ts";

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
