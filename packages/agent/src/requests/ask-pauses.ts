import { type Backoff, backoff } from "@resource-broker/kube";
import type { MachineTime } from "@resource-broker/runtime";

/**
 * The pauses between tries to reach the broker, request by request. They hold whatever else happens to the request:
 * saying in its status that the broker does not answer is an event itself, and must not make it ask again at once.
 */
export interface AskPauses {
  /** The broker did not answer; returns how long to wait, at least for as long as it wanted. */
  readonly begin: (key: string, leastMs?: number) => number;
  /** How long still to wait. */
  readonly left: (key: string) => number;
  readonly end: (key: string) => void;
}

const MIN_MS = 500;
const MAX_MS = 30_000;

export function askPauses(deps: {
  readonly machine: Pick<MachineTime, "monotonicMs">;
  readonly random: () => number;
}): AskPauses {
  const { monotonicMs } = deps.machine;
  const pauses = new Map<string, { readonly pace: Backoff; readonly until: number }>();
  return {
    begin: (key, leastMs = 1) => {
      const pace =
        pauses.get(key)?.pace ??
        backoff({ minMs: MIN_MS, maxMs: MAX_MS }, { random: deps.random, monotonicMs });
      const pauseMs = Math.max(leastMs, pace.failed());
      pauses.set(key, { pace, until: monotonicMs() + pauseMs });
      return pauseMs;
    },
    left: (key) => Math.max(0, (pauses.get(key)?.until ?? 0) - monotonicMs()),
    end: (key) => void pauses.delete(key),
  };
}
