/** Label for all names beyond the limit. */
export const OTHER = "other";

/** Gives the first names their own label and all others `other`: every label value is a series to store. */
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
