/** Delayed keys: a heap with one due time per key. */
export interface DelayQueue {
  /** An earlier moment that is known already stays. */
  readonly set: (key: string, at: number) => void;
  readonly earliest: () => DelayedKey | undefined;
  /** Takes the earliest out. */
  readonly take: () => DelayedKey | undefined;
  readonly clear: () => void;
}

export interface DelayedKey {
  readonly key: string;
  readonly at: number;
}

export function delayQueue(): DelayQueue {
  const heap: DelayedKey[] = [];
  const positions = new Map<string, number>();

  const setAt = (position: number, due: DelayedKey): void => {
    heap[position] = due;
    positions.set(due.key, position);
  };
  const moveUp = (start: number, due: DelayedKey): void => {
    let position = start;
    while (position > 0) {
      const above = (position - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.at <= due.at) break;
      setAt(position, parent);
      position = above;
    }
    setAt(position, due);
  };
  const childOf = (position: number): number => {
    const left = 2 * position + 1;
    const [a, b] = [heap[left], heap[left + 1]];
    return a !== undefined && b !== undefined && b.at < a.at ? left + 1 : left;
  };
  const moveDown = (start: number, due: DelayedKey): void => {
    let position = start;
    for (;;) {
      const below = childOf(position);
      const child = heap[below];
      if (child === undefined || child.at >= due.at) break;
      setAt(position, child);
      position = below;
    }
    setAt(position, due);
  };

  return {
    set: (key, at) => {
      const position = positions.get(key);
      if (position === undefined) moveUp(heap.length, { key, at });
      else if (at < (heap[position]?.at ?? at)) moveUp(position, { key, at });
    },
    earliest: () => heap[0],
    take: () => {
      const [first] = heap;
      const last = heap.pop();
      if (first === undefined || last === undefined) return undefined;
      positions.delete(first.key);
      if (last !== first) moveDown(0, last);
      return first;
    },
    clear: () => {
      heap.length = 0;
      positions.clear();
    },
  };
}
