import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS_PER_MS = 1e6;
/** USER_HZ: what the kernel counts in towards programs, on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** CPU time a process has used so far, in milliseconds. */
export interface CpuTime {
  /** The sum of `/proc/<pid>/task/<thread>/schedstat`, first number: to the nanosecond. */
  readonly exactMs: number;
  /** utime + stime of `/proc/<pid>/stat`: what top shows, in steps of 10 ms; here to check the other against. */
  readonly ticksMs: number;
}

export function cpuTimeOf(pid: number): CpuTime {
  return { exactMs: exactCpuMs(pid), ticksMs: tickedCpuMs(pid) };
}

/** Memory of a process in RAM, in MB (10⁶ bytes), from `/proc/<pid>/status`. */
export interface Memory {
  /** VmRSS: everything, also what it shares with others. */
  readonly rssMb: number;
  /** RssAnon: heap, stacks, buffers. The rest is the program's file, mapped, and shared by all who run it. */
  readonly privateMb: number;
  /** VmHWM: the most it ever had. */
  readonly peakMb: number;
}

export function memoryOf(pid: number): Memory {
  return memoryFrom(readFileSync(`/proc/${pid}/status`, "utf8"));
}

export function memoryFrom(status: string): Memory {
  const mb = (name: string): number => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    if (kib === undefined) throw new Error(`/proc/<pid>/status has no ${name}: the process has ended`);
    return (Number(kib) * 1024) / 1e6;
  };
  return { rssMb: mb("VmRSS"), privateMb: mb("RssAnon"), peakMb: mb("VmHWM") };
}

/** The fields after the name, which stands in parentheses and may contain anything. */
export function ticksFrom(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [utime, stime] = [Number(fields[11]), Number(fields[12])];
  if (!Number.isFinite(utime + stime)) throw new Error("/proc/<pid>/stat is not as expected");
  return utime + stime;
}

function tickedCpuMs(pid: number): number {
  return ticksFrom(readFileSync(`/proc/${pid}/stat`, "utf8")) * MS_PER_TICK;
}

/** Threads of Node stay for life, so that none takes its time with it. */
function exactCpuMs(pid: number): number {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const [running] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ");
    total += Number(running) / NANOSECONDS_PER_MS;
  }
  return total;
}
