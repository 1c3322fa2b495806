import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS_PER_MS = 1e6;

/** Memory of a process in RAM, in MB (10⁶ bytes), from `/proc/<pid>/status`. */
export interface ProcessMemory {
  /** VmRSS: everything, also what it shares with others. */
  readonly rssMb: number;
  /** RssAnon: heap, stacks, buffers. The rest is the program's file, mapped, and shared by all who run it. */
  readonly privateMb: number;
  /** VmHWM: the most it ever had. */
  readonly peakMb: number;
}

export function memoryOf(pid: number): ProcessMemory {
  return memoryFrom(readFileSync(`/proc/${pid}/status`, "utf8"));
}

function memoryFrom(status: string): ProcessMemory {
  const mb = (name: string): number => {
    // What the kernel calls kB are 1024 bytes.
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    if (kib === undefined) throw new Error(`/proc/<pid>/status has no ${name}: the process has ended`);
    return (Number(kib) * 1024) / 1e6;
  };
  return { rssMb: mb("VmRSS"), privateMb: mb("RssAnon"), peakMb: mb("VmHWM") };
}

/**
 * CPU time that a process has used so far, all its threads, in milliseconds: the sum of the first numbers of
 * `/proc/<pid>/task/<thread>/schedstat`, to the nanosecond. Threads of Node stay for life, so that none takes its time with it.
 */
export function cpuMsOf(pid: number): number {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const [running] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ");
    total += Number(running) / NANOSECONDS_PER_MS;
  }
  return total;
}
