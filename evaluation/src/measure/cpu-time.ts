import { readFileSync } from "node:fs";
import { cpuMsOf } from "@resource-broker/testkit";

/** USER_HZ: what the kernel counts in towards programs, on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** CPU time a process has used so far, in milliseconds. */
export interface CpuTime {
  /** Of `/proc/<pid>/task/<thread>/schedstat`: to the nanosecond. */
  readonly exactMs: number;
  /** utime + stime of `/proc/<pid>/stat`: what top shows, in steps of 10 ms; here to check the other against. */
  readonly ticksMs: number;
}

export function cpuTimeOf(pid: number): CpuTime {
  const ticks = ticksFrom(readFileSync(`/proc/${pid}/stat`, "utf8"));
  return { exactMs: cpuMsOf(pid), ticksMs: ticks * MS_PER_TICK };
}

/** The fields after the name, which stands in parentheses and may contain anything. */
export function ticksFrom(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [utime, stime] = [Number(fields[11]), Number(fields[12])];
  if (!Number.isFinite(utime + stime)) throw new Error("/proc/<pid>/stat is not as expected");
  return utime + stime;
}
