import type { Clock } from "@resource-broker/base";
import { StatusError } from "../api/status-error.ts";

/** Keys that wait to be looked at, each once, on the next tick of the clock: never inside the write that caused it. */
export interface Queue<Key> {
  readonly add: (key: Key) => void;
  readonly stop: () => void;
}

export function tickQueue<Key>(clock: Clock, look: (key: Key) => void): Queue<Key> {
  const waiting = new Set<Key>();
  let cancel: (() => void) | undefined;
  /** What the api refuses to a collector, such as the end of the default namespace, stays as it is. */
  const lookAt = (key: Key) => {
    try {
      look(key);
    } catch (problem) {
      if (!(problem instanceof StatusError)) throw problem;
    }
  };
  const run = () => {
    cancel = undefined;
    // What is added meanwhile is looked at in the same tick: a chain of owners falls at once.
    for (const key of waiting) {
      waiting.delete(key);
      lookAt(key);
    }
  };
  return {
    add: (key) => {
      waiting.add(key);
      cancel ??= clock.after(0, run);
    },
    stop: () => {
      waiting.clear();
      cancel?.();
    },
  };
}
