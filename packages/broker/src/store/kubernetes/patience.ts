import { Fault } from "@resource-broker/contract";
import type { Clock } from "@resource-broker/runtime";

/** Makes a call with a time limit. */
export type Patiently = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** A leader must know within its lease whether it can write; the client's own timeout is much longer. */
export function patience(clock: Clock, limitMs: number): Patiently {
  return async (call) => {
    const giving = new AbortController();
    const cancel = clock.after(limitMs, () =>
      giving.abort(
        new Fault(
          "unreachable",
          `the API server gave no answer in ${Math.round(limitMs)} ms: is it overloaded?`,
        ),
      ),
    );
    try {
      return await call(giving.signal);
    } finally {
      cancel();
    }
  };
}
