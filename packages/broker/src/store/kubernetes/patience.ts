import { Fault } from "@resource-broker/contract";
import type { MachineTime } from "@resource-broker/runtime";

/** Makes a call that is given up after a while. */
export type Patiently = <T>(call: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/** A leader must know within its lease whether it can still write: the client itself would wait much longer. */
export function patience(machine: MachineTime, limitMs: number): Patiently {
  return async (call) => {
    const giving = new AbortController();
    const cancel = machine.after(limitMs, () =>
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
