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
