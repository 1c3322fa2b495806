/** Lets clients through one call at a time, and can be closed to look at a broker that nobody is changing. */
export class Gate {
  #inside = 0;
  #isClosed = false;
  /** Those who wait for the gate to open. */
  #outside: (() => void)[] = [];
  /** Those who wait for the last call to end. */
  #watchers: (() => void)[] = [];

  async pass<T>(call: () => Promise<T>): Promise<T> {
    while (this.#isClosed) await new Promise<void>((resolve) => this.#outside.push(resolve));
    this.#inside++;
    try {
      return await call();
    } finally {
      this.#inside--;
      if (this.#inside === 0) for (const notify of this.#watchers.splice(0)) notify();
    }
  }

  /** Resolves when the last call that was under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#inside > 0) await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  open(): void {
    this.#isClosed = false;
    for (const letIn of this.#outside.splice(0)) letIn();
  }
}
