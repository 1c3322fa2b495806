import type { Instant } from "@resource-broker/domain";

interface Moment {
  readonly commit: number;
  readonly at: Instant;
}

/** The last changes by commit, so that a reader can continue after a short disconnection: with all of them, or none. */
export class ChangeLog<Change> {
  readonly #capacity: number;
  readonly #entries: (Moment & { readonly change: Change; readonly size: number })[] = [];
  #size = 0;
  /** Everything after this commit is here. */
  #completeAfter: Moment;

  constructor(capacity: number, start: Moment) {
    this.#capacity = capacity;
    this.#completeAfter = start;
  }

  /** `size` counts against the capacity. */
  add({ commit, at }: Moment, change: Change, size: number): void {
    this.#entries.push({ commit, at, change, size });
    this.#size += size;
    let dropped = 0;
    for (const oldest of this.#entries) {
      if (this.#size <= this.#capacity) break;
      dropped++;
      this.#size -= oldest.size;
      this.#completeAfter = oldest;
    }
    if (dropped > 0) this.#entries.splice(0, dropped);
  }

  /** What changed after a commit, up to another one, and when the first of them was made; undefined: not known any more. */
  between(after: number, upTo: number): { readonly changes: Change[]; readonly since: Instant } | undefined {
    if (after < this.#completeAfter.commit) return undefined;
    const changes: Change[] = [];
    let since = this.#completeAfter.at;
    for (const { commit, at, change } of this.#entries) {
      if (commit > upTo) break;
      if (commit > after) changes.push(change);
      else since = at;
    }
    return { changes, since };
  }
}
