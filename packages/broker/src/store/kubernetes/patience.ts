import { Fault } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";

/** Makes a call with a time limit. */
export type WithTimeout = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** A leader must know within its lease whether it can write; the client's own timeout is much longer. */
export function callTimeout(clock: Clock, limitMs: number): WithTimeout {
  return async (call) => {
    const timeout = new AbortController();
    const cancel = clock.after(limitMs, () =>
      timeout.abort(
        new Fault(
          "unreachable",
          `the API server gave no answer in ${Math.round(limitMs)} ms: is it overloaded?`,
        ),
      ),
    );
    try {
      return await call(timeout.signal);
    } finally {
      cancel();
    }
  };
}
