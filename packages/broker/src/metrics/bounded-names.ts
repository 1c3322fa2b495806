/** Where everything goes that has no label of its own. */
export const OTHER = "other";

/** Gives the first so many names a label of their own: every label is a series that somebody has to store. */
export class BoundedNames {
  readonly #max: number;
  readonly #names = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  labelFor(name: string): string {
    if (this.#names.has(name)) return name;
    if (this.#names.size >= this.#max) return OTHER;
    this.#names.add(name);
    return name;
  }
}
