import type { Instant } from "../reservation/ids.ts";

/** An action that the ledger takes at a given time. */
export interface Deadline {
  readonly at: Instant;
  readonly kind: "reservation" | "waiting" | "closed-key" | "adoption-offer";
  readonly id: string;
}

/** A heap with one deadline per subject: set, move and remove take logarithmic time. */
export class Deadlines {
  readonly #heap: Deadline[] = [];
  readonly #positions = new Map<string, number>();

  get earliest(): Deadline | undefined {
    return this.#heap[0];
  }

  set(deadline: Deadline): void {
    const position = this.#positions.get(subject(deadline));
    if (position === undefined) {
      this.#heap.push(deadline);
      this.#raise(this.#heap.length - 1, deadline);
    } else {
      this.#settle(position, deadline);
    }
  }

  /** Undefined: there is no deadline any more. */
  update(kind: Deadline["kind"], id: string, at: Instant | undefined): void {
    if (at === undefined) this.remove(kind, id);
    else this.set({ at, kind, id });
  }

  remove(kind: Deadline["kind"], id: string): void {
    const key = subject({ kind, id });
    const position = this.#positions.get(key);
    if (position === undefined) return;
    this.#positions.delete(key);
    const last = this.#heap.pop();
    if (last !== undefined && position < this.#heap.length) this.#settle(position, last);
  }

  /** Deadlines reached at `now`, at most `limit`, without touching the others. */
  due(now: Instant, limit: number): Deadline[] {
    const found: Deadline[] = [];
    const open = [0];
    for (let index = open.pop(); index !== undefined && found.length < limit; index = open.pop()) {
      const deadline = this.#heap[index];
      if (deadline === undefined || deadline.at > now) continue;
      found.push(deadline);
      open.push(2 * index + 2, 2 * index + 1);
    }
    return found;
  }

  clone(): Deadlines {
    const copy = new Deadlines();
    for (const deadline of this.#heap) copy.set(deadline);
    return copy;
  }

  #settle(position: number, deadline: Deadline): void {
    const parent = this.#heap[(position - 1) >> 1];
    if (position > 0 && parent !== undefined && isBefore(deadline, parent)) this.#raise(position, deadline);
    else this.#sink(position, deadline);
  }

  #raise(start: number, deadline: Deadline): void {
    let position = start;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = this.#heap[parentPosition];
      if (parent === undefined || !isBefore(deadline, parent)) break;
      this.#place(position, parent);
      position = parentPosition;
    }
    this.#place(position, deadline);
  }

  #sink(start: number, deadline: Deadline): void {
    let position = start;
    for (;;) {
      const childPosition = this.#smallerChild(position);
      const child = this.#heap[childPosition];
      if (child === undefined || !isBefore(child, deadline)) break;
      this.#place(position, child);
      position = childPosition;
    }
    this.#place(position, deadline);
  }

  #smallerChild(position: number): number {
    const leftPosition = 2 * position + 1;
    const left = this.#heap[leftPosition];
    const right = this.#heap[leftPosition + 1];
    return left !== undefined && right !== undefined && isBefore(right, left)
      ? leftPosition + 1
      : leftPosition;
  }

  #place(position: number, deadline: Deadline): void {
    this.#heap[position] = deadline;
    this.#positions.set(subject(deadline), position);
  }
}

function subject(deadline: Pick<Deadline, "kind" | "id">): string {
  return `${deadline.kind}\n${deadline.id}`;
}

function isBefore(a: Deadline, b: Deadline): boolean {
  return a.at < b.at;
}
