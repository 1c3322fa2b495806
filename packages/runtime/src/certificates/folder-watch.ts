import { type FSWatcher, watch } from "node:fs";
import type { MachineTime } from "../time/machine-time.ts";

export interface FolderWatchOptions {
  readonly folder: string;
  readonly machine: Pick<MachineTime, "after">;
  /** Files are replaced one after the other: wait for the last. */
  readonly settleMs: number;
  /** Some file systems tell nothing: look anyway, this often. */
  readonly pollMs: number;
  readonly look: () => void;
}

/**
 * Calls `look` soon after anything in the folder changed, and now and then in any case. Kubernetes swaps the link
 * `..data`, which is a change in the folder as well. Returns what ends it.
 */
export function watchFolder(options: FolderWatchOptions): () => void {
  const { folder, machine, settleMs, pollMs, look } = options;
  let cancelSettle: (() => void) | undefined;
  let cancelPoll = machine.after(pollMs, poll);
  let watcher = open();

  function poll(): void {
    cancelPoll = machine.after(pollMs, poll);
    watcher ??= open();
    look();
  }

  function changed(): void {
    cancelSettle?.();
    cancelSettle = machine.after(settleMs, look);
  }

  /** A folder that cannot be watched (not there, too many watches) is still looked at by the poll. */
  function open(): FSWatcher | undefined {
    try {
      const opened = watch(folder, { persistent: false }, changed);
      opened.on("error", () => {
        opened.close();
        watcher = undefined;
      });
      return opened;
    } catch {
      return undefined;
    }
  }

  return () => {
    cancelSettle?.();
    cancelPoll();
    watcher?.close();
  };
}
