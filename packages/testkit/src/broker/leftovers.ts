import { rmSync } from "node:fs";

/** What must not outlive this process, however it ends: broker processes and their temporary folders. */
const processes = new Set<number>();
const folders = new Set<string>();
let isWatching = false;

export function endWithUs(pid: number): () => void {
  watch();
  processes.add(pid);
  return () => processes.delete(pid);
}

export function removeWithUs(folder: string): () => void {
  watch();
  folders.add(folder);
  return () => folders.delete(folder);
}

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.once("exit", clear);
}

function clear(): void {
  for (const pid of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended by itself meanwhile.
    }
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
