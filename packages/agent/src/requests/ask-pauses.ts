import { type Backoff, backoff } from "@resource-broker/kube";
import type { Clock } from "@resource-broker/runtime";

/**
 * Backoff of calls to the broker, per request. It applies regardless of events: writing "the broker does not
 * answer" into the status is an event itself and must not cause an immediate retry.
 */
export interface AskPauses {
  /** Records a failure; returns the wait, at least as long as the broker asked for. */
  readonly begin: (key: string, leastMs?: number) => number;
  /** The remaining wait. */
  readonly left: (key: string) => number;
  readonly end: (key: string) => void;
}

const MIN_MS = 500;
const MAX_MS = 30_000;

export function askPauses(deps: {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly random: () => number;
}): AskPauses {
  const { monotonicMs } = deps.clock;
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
