import { readdirSync, readFileSync } from "node:fs";

const NANOSECONDS_PER_MS = 1e6;

/** Memory of a process in RAM now, in MB. */
export const rssMb = (pid: number): number => statusMb(pid, "VmRSS");

/** The most it ever had. */
export const peakRssMb = (pid: number): number => statusMb(pid, "VmHWM");

function statusMb(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) / 1000;
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
