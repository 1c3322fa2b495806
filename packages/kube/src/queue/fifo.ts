/** First in, first out, each key once. A Set alone is slow: deleted entries at its front are skipped on every iteration. */
export interface Fifo {
  /** False: it is waiting already. */
  readonly add: (key: string) => boolean;
  readonly take: () => string | undefined;
  readonly size: () => number;
}

const COMPACT_AT = 1024;

export function fifo(): Fifo {
  let keys: string[] = [];
  let taken = 0;
  const waiting = new Set<string>();
  return {
    add: (key) => {
      if (waiting.has(key)) return false;
      waiting.add(key);
      keys.push(key);
      return true;
    },
    take: () => {
      const key = keys[taken];
      if (key === undefined) return undefined;
      taken++;
      waiting.delete(key);
      if (taken >= COMPACT_AT && 2 * taken >= keys.length) {
        keys = keys.slice(taken);
        taken = 0;
      }
      return key;
    },
    size: () => waiting.size,
  };
}
