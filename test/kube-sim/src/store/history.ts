import type { Change } from "./change.ts";

/** The newest changes, oldest first: bounded, so that a busy cluster does not remember for ever. */
export interface History {
  readonly add: (change: Change, most: number) => void;
  readonly since: (version: number) => Iterable<Change>;
  readonly oldest: () => number;
  /** Forgets everything up to the version. */
  readonly forget: (version: number) => void;
}

export function history(): History {
  let changes: Change[] = [];
  /** Changes before this place are forgotten; they are cut off when they are a quarter of the list. */
  let start = 0;
  let oldest = 1;
  const cut = () => {
    if (start * 4 < changes.length) return;
    changes = changes.slice(start);
    start = 0;
  };
  return {
    add: (change, most) => {
      changes.push(change);
      const surplus = changes.length - start - most;
      if (surplus <= 0) return;
      start += surplus;
      oldest = changes[start - 1]?.version ?? oldest;
      cut();
    },
    since: function* (version) {
      const seen = changes;
      for (let at = placeAfter(seen, version); at < seen.length; at++) {
        const change = seen[at];
        if (change !== undefined) yield change;
      }
    },
    oldest: () => oldest,
    forget: (version) => {
      start = placeAfter(changes, version);
      oldest = Math.max(oldest, version);
      cut();
    },
  };
}

function placeAfter(changes: readonly Change[], version: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((changes[middle]?.version ?? 0) <= version) low = middle + 1;
    else high = middle;
  }
  return low;
}
