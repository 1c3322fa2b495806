import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";

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
