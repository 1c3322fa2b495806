/** The first promise that was not kept; the simulation ends with it. */
export class Findings {
  #problem: string | undefined;

  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Nothing is thrown: the engine, which catches what its store throws, must not be able to hide what was found. The
   * message is built only when needed.
   */
  expect(holds: boolean, otherwise: () => string): void {
    if (!holds) this.#problem ??= otherwise();
  }
}

const MAX_NOTES = 60;

/** The last things that happened. */
export class Trace {
  readonly #now: () => number;
  readonly #notes: { readonly at: number; readonly what: string }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  note(what: string): void {
    this.#notes.push({ at: this.#now(), what });
    if (this.#notes.length >= 2 * MAX_NOTES) this.#notes.splice(0, MAX_NOTES);
  }

  lines(): string[] {
    return this.#notes
      .slice(-MAX_NOTES)
      .map(({ at, what }) => `${(at / 1000).toFixed(4).padStart(12)} s  ${what}`);
  }
}
