import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuMsOf, memoryOf } from "@resource-broker/testkit";

/** USER_HZ: what the kernel counts in towards programs, on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/**
 * utime + stime of `/proc/<pid>/stat`: what top shows, here to check the other figure against. They are fields after the
 * name, which stands in parentheses and may contain anything.
 */
export function ticksFrom(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [utime, stime] = [Number(fields[11]), Number(fields[12])];
  if (!Number.isFinite(utime + stime)) throw new Error("/proc/<pid>/stat is not as expected");
  return utime + stime;
}

/** A look at a process. */
export interface Sample {
  /** Since the first one. */
  readonly atMs: number;
  /** Of `/proc/<pid>/task/<thread>/schedstat`: to the nanosecond. */
  readonly cpuMs: number;
  /** Of `/proc/<pid>/stat`: in steps of 10 ms. */
  readonly ticksMs: number;
  readonly rssMb: number;
  readonly privateMb: number;
}

export interface SamplingOptions {
  readonly everyMs: number;
  readonly forMs: number;
  readonly signal: AbortSignal;
  /** Told after each look. */
  readonly onSample?: (sample: Sample) => void;
}

/** Looks at a process now, then again and again until the time is over: the last look is the end. */
export async function sampleProcess(pid: number, options: SamplingOptions): Promise<Sample[]> {
  const { everyMs, forMs, signal, onSample } = options;
  const beganAt = performance.now();
  const samples: Sample[] = [];
  for (let next = 0; ; next = Math.min(next + everyMs, forMs)) {
    // From the beginning, not from the look before: being late once must not move all that follow.
    await sleep(Math.max(0, beganAt + next - performance.now()), undefined, { signal });
    const sample = sampleOf(pid, beganAt);
    samples.push(sample);
    onSample?.(sample);
    if (next >= forMs) return samples;
  }
}

export function sampleOf(pid: number, beganAt: number): Sample {
  const { rssMb, privateMb } = memoryOf(pid);
  return {
    atMs: performance.now() - beganAt,
    cpuMs: cpuMsOf(pid),
    ticksMs: ticksFrom(readFileSync(`/proc/${pid}/stat`, "utf8")) * MS_PER_TICK,
    rssMb,
    privateMb,
  };
}

/** The share of one core between the first look and the last, in percent. Undefined: only one look. */
export function coreShare(samples: readonly Pick<Sample, "atMs" | "cpuMs">[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || last.atMs === first.atMs) return undefined;
  return (100 * (last.cpuMs - first.cpuMs)) / (last.atMs - first.atMs);
}

/** The same for each window of so long: how much they differ is the spread. What is left at the end is no window. */
export function coreShares(
  samples: readonly Pick<Sample, "atMs" | "cpuMs">[],
  windowMs: number,
): readonly number[] {
  const shares: number[] = [];
  let begin = 0;
  for (const [index, { atMs }] of samples.entries()) {
    // A look comes a little late as a rule, never early.
    if (atMs - (samples[begin]?.atMs ?? 0) < 0.98 * windowMs) continue;
    const share = coreShare(samples.slice(begin, index + 1));
    if (share !== undefined) shares.push(share);
    begin = index;
  }
  return shares;
}
