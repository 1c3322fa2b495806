/** What happens when in simulated time: the earliest first, and of one moment in the order in which it was planned. */
export class Agenda {
  readonly #heap: Entry[] = [];
  #count = 0;

  get earliest(): number | undefined {
    return this.#heap[0]?.at;
  }

  add(at: number, run: () => void): void {
    const heap = this.#heap;
    const entry = { at, order: this.#count++, run };
    let position = heap.push(entry) - 1;
    for (let above = (position - 1) >> 1; position > 0; above = (position - 1) >> 1) {
      const parent = heap[above];
      if (parent === undefined || !isBefore(entry, parent)) break;
      heap[position] = parent;
      position = above;
    }
    heap[position] = entry;
  }

  /** Takes out the first entry that is due. */
  take(now: number): (() => void) | undefined {
    const heap = this.#heap;
    const [first] = heap;
    if (first === undefined || first.at > now) return undefined;
    const last = heap.pop();
    if (last !== undefined && last !== first) this.#sink(last);
    return first.run;
  }

  #sink(entry: Entry): void {
    const heap = this.#heap;
    let position = 0;
    for (;;) {
      const child = this.#smallerChild(position);
      const below = heap[child];
      if (below === undefined || !isBefore(below, entry)) break;
      heap[position] = below;
      position = child;
    }
    heap[position] = entry;
  }

  #smallerChild(position: number): number {
    const left = 2 * position + 1;
    const [a, b] = [this.#heap[left], this.#heap[left + 1]];
    return a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left;
  }
}

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
