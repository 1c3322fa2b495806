import type { Clock } from "@resource-broker/runtime";

/** Names are handled in slices with pauses, so that a hundred thousand comparisons do not block the engine. */
const SLICE = 100;
const PAUSE_MS = 5;

/** A queue of names to reconcile, without duplicates. */
export interface NameQueue {
  readonly add: (name: string) => void;
  readonly stop: () => void;
}

export function nameQueue(handle: (name: string) => void, clock: Pick<Clock, "after">): NameQueue {
  const names = new Set<string>();
  let cancel: (() => void) | undefined;
  const drainSlice = (): void => {
    let left = SLICE;
    for (const name of names) {
      if (left-- === 0) break;
      names.delete(name);
      handle(name);
    }
    cancel = names.size === 0 ? undefined : clock.after(PAUSE_MS, drainSlice);
  };
  return {
    add: (name) => {
      names.add(name);
      cancel ??= clock.after(0, drainSlice);
    },
    stop: () => {
      cancel?.();
      cancel = () => undefined;
      names.clear();
    },
  };
}
