/** Delayed keys: a heap with one due time per key. */
export interface Delays {
  /** An earlier moment that is known already stays. */
  readonly set: (key: string, at: number) => void;
  readonly earliest: () => Due | undefined;
  /** Takes the earliest out. */
  readonly take: () => Due | undefined;
  readonly clear: () => void;
}

export interface Due {
  readonly key: string;
  readonly at: number;
}

export function delays(): Delays {
  const heap: Due[] = [];
  const places = new Map<string, number>();

  const put = (place: number, due: Due): void => {
    heap[place] = due;
    places.set(due.key, place);
  };
  const raise = (start: number, due: Due): void => {
    let place = start;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.at <= due.at) break;
      put(place, parent);
      place = above;
    }
    put(place, due);
  };
  const childOf = (place: number): number => {
    const left = 2 * place + 1;
    const [a, b] = [heap[left], heap[left + 1]];
    return a !== undefined && b !== undefined && b.at < a.at ? left + 1 : left;
  };
  const lower = (start: number, due: Due): void => {
    let place = start;
    for (;;) {
      const below = childOf(place);
      const child = heap[below];
      if (child === undefined || child.at >= due.at) break;
      put(place, child);
      place = below;
    }
    put(place, due);
  };

  return {
    set: (key, at) => {
      const place = places.get(key);
      if (place === undefined) raise(heap.length, { key, at });
      else if (at < (heap[place]?.at ?? at)) raise(place, { key, at });
    },
    earliest: () => heap[0],
    take: () => {
      const [first] = heap;
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      places.delete(first.key);
      if (last !== first) lower(0, last);
      return first;
    },
    clear: () => {
      heap.length = 0;
      places.clear();
    },
  };
}
