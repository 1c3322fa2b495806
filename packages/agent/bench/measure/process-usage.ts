import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS_PER_MS = 1e6;

/** Memory of a process in RAM, in MB. */
export interface Memory {
  readonly rssMb: number;
  /** What it shares with nobody: heap, stacks, buffers. The rest is the program's file, mapped. */
  readonly privateMb: number;
  /** The most it ever had. */
  readonly peakMb: number;
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1000;
  return { rssMb: mb("VmRSS"), privateMb: mb("RssAnon"), peakMb: mb("VmHWM") };
}

/** CPU time a process has used so far, all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  let total = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const [running] = readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ");
    total += Number(running) / NANOSECONDS_PER_MS;
  }
  return total;
}
