import type { Clock } from "@resource-broker/runtime";

/** A sleep that can be interrupted. */
export interface Pauses {
  /** Resolves after this time, or when the signal aborts or the client closes. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly close: () => void;
}

export function createPauses(clock: Pick<Clock, "after">): Pauses {
  const closing = new AbortController();

  const pause: Pauses["pause"] = (ms, signal) =>
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

  return { pause, close: () => closing.abort() };
}
