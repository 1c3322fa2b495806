import type { SeededRandom } from "@resource-broker/testkit";

/** One thing that happens at one moment, whole: nothing else runs meanwhile. */
export interface Step {
  readonly at: number;
  readonly name: string;
  readonly run: () => void;
}

interface Queued extends Step {
  /** Decides between steps of the same moment: any order may happen in life. */
  readonly tieBreaker: number;
  isCancelled: boolean;
}

/** Time that passes only from one step to the next. All that happens in a simulation passes through here. */
export class Scheduler {
  /** Milliseconds since the beginning. */
  now = 0;
  readonly #random: SeededRandom;
  readonly #heap: Queued[] = [];

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  after(delayMs: number, name: string, run: () => void): () => void {
    const step = {
      at: this.now + delayMs,
      name,
      run,
      tieBreaker: this.#random.below(2 ** 30),
      isCancelled: false,
    };
    this.#push(step);
    return () => {
      step.isCancelled = true;
    };
  }

  /** Takes the next step out; time moves on to it. */
  next(): Step | undefined {
    for (let step = this.#pop(); step !== undefined; step = this.#pop()) {
      if (step.isCancelled) continue;
      this.now = Math.max(this.now, step.at);
      return step;
    }
    return undefined;
  }

  /** Nobody runs for so long, as when a machine sleeps: what was due meanwhile is late. */
  leap(milliseconds: number): void {
    this.now += milliseconds;
  }

  #push(step: Queued): void {
    const heap = this.#heap;
    let position = heap.push(step) - 1;
    while (position > 0) {
      const above = (position - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || !isBefore(step, parent)) break;
      heap[position] = parent;
      position = above;
    }
    heap[position] = step;
  }

  #pop(): Queued | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || last === first) return first;
    let position = 0;
    for (;;) {
      const child = this.#smallerChild(position);
      const below = heap[child];
      if (below === undefined || !isBefore(below, last)) break;
      heap[position] = below;
      position = child;
    }
    heap[position] = last;
    return first;
  }

  #smallerChild(position: number): number {
    const left = 2 * position + 1;
    const [a, b] = [this.#heap[left], this.#heap[left + 1]];
    return a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left;
  }
}

function isBefore(a: Queued, b: Queued): boolean {
  return a.at < b.at || (a.at === b.at && a.tieBreaker < b.tieBreaker);
}
