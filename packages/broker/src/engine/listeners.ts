import { asError } from "./persist.ts";

/** Those who are told of what the engine did. What one of them throws affects neither the engine nor the others. */
export class Listeners<T> {
  readonly #listeners = new Set<(change: T) => void>();
  readonly #onError: (error: Error) => void;

  constructor(onError: (error: Error) => void) {
    this.#onError = onError;
  }

  /** The returned function ends it. */
  readonly add = (listener: (change: T) => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  notify(change: T): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#onError(asError(error));
      }
    }
  }
}
