import type { Clock } from "@resource-broker/base";
import { type Backoff, backoff } from "@resource-broker/kube";

/**
 * Backoff of calls to the broker, per request. It applies regardless of events: writing "the broker does not
 * answer" into the status is an event itself and must not cause an immediate retry.
 */
export interface RequestBackoff {
  /** Records a failure; returns the wait, at least as long as the broker asked for. */
  readonly fail: (key: string, leastMs?: number) => number;
  /** The remaining wait. */
  readonly remainingMs: (key: string) => number;
  readonly reset: (key: string) => void;
}

const MIN_MS = 500;
const MAX_MS = 30_000;

export function requestBackoff(deps: {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly random: () => number;
}): RequestBackoff {
  const { monotonicMs } = deps.clock;
  const pauses = new Map<string, { readonly limiter: Backoff; readonly until: number }>();
  return {
    fail: (key, leastMs = 1) => {
      const limiter =
        pauses.get(key)?.limiter ??
        backoff({ minMs: MIN_MS, maxMs: MAX_MS }, { random: deps.random, monotonicMs });
      const pauseMs = Math.max(leastMs, limiter.failed());
      pauses.set(key, { limiter, until: monotonicMs() + pauseMs });
      return pauseMs;
    },
    remainingMs: (key) => Math.max(0, (pauses.get(key)?.until ?? 0) - monotonicMs()),
    reset: (key) => void pauses.delete(key),
  };
}
