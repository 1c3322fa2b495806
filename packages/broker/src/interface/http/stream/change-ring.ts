import type { Reservation } from "@resource-broker/domain";

interface Change {
  readonly commit: number;
  readonly reservation: Reservation;
}

/** The last changes, so that a reader can resume after a short disconnect. */
export class ChangeRing {
  readonly #capacity: number;
  readonly #changes: Change[] = [];
  #next = 0;
  /** Everything after this commit is here. */
  #completeAfter: number;

  constructor(capacity: number, commit: number) {
    this.#capacity = capacity;
    this.#completeAfter = commit;
  }

  add(commit: number, reservation: Reservation): void {
    const replaced = this.#changes[this.#next];
    if (replaced !== undefined) this.#completeAfter = replaced.commit;
    this.#changes[this.#next] = { commit, reservation };
    this.#next = (this.#next + 1) % this.#capacity;
  }

  /** What changed after a commit, oldest first; undefined when that is no longer known. */
  since(commit: number): Reservation[] | undefined {
    if (commit < this.#completeAfter) return undefined;
    const found: Reservation[] = [];
    for (let back = 1; back <= this.#changes.length; back++) {
      const position = (this.#next - back + this.#capacity) % this.#capacity;
      const change = this.#changes[position];
      if (change === undefined || change.commit <= commit) break;
      found.push(change.reservation);
    }
    return found.reverse();
  }
}
