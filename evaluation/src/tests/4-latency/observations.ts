/** When something was first seen, and what was read there. */
export interface Observation {
  readonly at: number;
  readonly text: string;
}

/** Watches record what they see; a waiter gets the first observation at once, even if it was recorded before. */
export interface Observations {
  /** Only the first sight of a thing counts. */
  readonly record: (thing: string, sight: Observation) => void;
  /** Undefined: it was not seen in time. */
  readonly waitFor: (thing: string, withinMs: number) => Promise<Observation | undefined>;
}

export function createObservations(): Observations {
  const pinned = new Map<string, Observation>();
  const waiting = new Map<string, (sight: Observation) => void>();
  return {
    record: (thing, sight) => {
      if (pinned.has(thing)) return;
      pinned.set(thing, sight);
      waiting.get(thing)?.(sight);
      waiting.delete(thing);
    },
    waitFor: (thing, withinMs) => {
      const there = pinned.get(thing);
      if (there !== undefined) return Promise.resolve(there);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(thing);
          resolve(undefined);
        }, withinMs);
        waiting.set(thing, (sight) => {
          clearTimeout(timer);
          resolve(sight);
        });
      });
    },
  };
}
