const KEPT = 60;

/** The last things that happened. */
export class Trace {
  readonly #now: () => number;
  readonly #notes: { readonly at: number; readonly what: string }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  note(what: string): void {
    this.#notes.push({ at: this.#now(), what });
    if (this.#notes.length >= 2 * KEPT) this.#notes.splice(0, KEPT);
  }

  lines(): string[] {
    return this.#notes
      .slice(-KEPT)
      .map(({ at, what }) => `${(at / 1000).toFixed(4).padStart(12)} s  ${what}`);
  }
}
