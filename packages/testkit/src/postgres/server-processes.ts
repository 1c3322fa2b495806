import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";

/** Sends a signal to a process and to all that it has started itself. */
export async function signalFamily(parent: number, signal: NodeJS.Signals): Promise<void> {
  // First itself: once it has stopped, it starts no more.
  signalIfThere(parent, signal);
  for (const pid of await childrenOf(parent)) signalIfThere(pid, signal);
}

export async function childrenOf(parent: number): Promise<number[]> {
  const entries = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    entries.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // The name in brackets may hold anything; the parent is the second field after it.
      const [, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(ppid) === parent ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

export function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself meanwhile.
  }
}

/** One that has ended may be listed until somebody asks for its exit code; it has no command line then. */
export function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}
