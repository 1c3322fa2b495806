import { type FSWatcher, watch } from "node:fs";
import type { Clock } from "@resource-broker/base";

export interface FolderWatchOptions {
  readonly folder: string;
  readonly clock: Pick<Clock, "after">;
  /** Debounce: files are replaced one after the other. */
  readonly debounceMs: number;
  /** Poll interval: some file systems send no change events. */
  readonly pollMs: number;
  readonly onChange: () => void;
}

/**
 * Calls `onChange` after a change in the folder, and periodically. Kubernetes replaces the link `..data`, which is a change in the
 * folder as well. The returned function stops it.
 */
export function watchFolder(options: FolderWatchOptions): () => void {
  const { folder, clock, debounceMs, pollMs, onChange } = options;
  let cancelDebounce: (() => void) | undefined;
  let cancelPoll = clock.after(pollMs, poll);
  let watcher = open();

  function poll(): void {
    cancelPoll = clock.after(pollMs, poll);
    watcher ??= open();
    onChange();
  }

  function changed(): void {
    cancelDebounce?.();
    cancelDebounce = clock.after(debounceMs, onChange);
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
    cancelDebounce?.();
    cancelPoll();
    watcher?.close();
  };
}
