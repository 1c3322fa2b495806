import { type FSWatcher, watch } from "node:fs";
import type { MachineTime } from "../time/machine-time.ts";

export interface FolderWatchOptions {
  readonly folder: string;
  readonly machine: Pick<MachineTime, "after">;
  /** Debounce: files are replaced one after the other. */
  readonly settleMs: number;
  /** Poll interval: some file systems send no change events. */
  readonly pollMs: number;
  readonly look: () => void;
}

/**
 * Calls `look` after a change in the folder, and periodically. Kubernetes replaces the link `..data`, which is a change in the
 * folder as well. The returned function stops it.
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

  /** A folder that cannot be watched (missing, too many watches) is still polled. */
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
