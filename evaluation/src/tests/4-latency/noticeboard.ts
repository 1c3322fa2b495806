/** When something was first seen, and what was read there. */
export interface Sight {
  readonly at: number;
  readonly text: string;
}

/** Watches record what they see; a waiter gets the first observation at once, even if it was recorded before. */
export interface Noticeboard {
  /** Only the first sight of a thing counts. */
  readonly pin: (thing: string, sight: Sight) => void;
  /** Undefined: it was not seen in time. */
  readonly sightOf: (thing: string, withinMs: number) => Promise<Sight | undefined>;
}

export function noticeboard(): Noticeboard {
  const pinned = new Map<string, Sight>();
  const waiting = new Map<string, (sight: Sight) => void>();
  return {
    pin: (thing, sight) => {
      if (pinned.has(thing)) return;
      pinned.set(thing, sight);
      waiting.get(thing)?.(sight);
      waiting.delete(thing);
    },
    sightOf: (thing, withinMs) => {
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
