import type { Clock } from "@resource-broker/runtime";

/** A sleep that can be interrupted. */
export interface Sleeper {
  /** Resolves after this time, or when the signal aborts or the client closes. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

export function createSleeper(clock: Pick<Clock, "after">): Sleeper {
  const closing = new AbortController();

  const sleep: Sleeper["sleep"] = (ms, signal) =>
    new Promise((resolve) => {
      if (ms <= 0 || closing.signal.aborted || signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        cancel();
        closing.signal.removeEventListener("abort", end);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      closing.signal.addEventListener("abort", end);
      signal?.addEventListener("abort", end);
    });

  return { sleep, close: () => closing.abort() };
}
