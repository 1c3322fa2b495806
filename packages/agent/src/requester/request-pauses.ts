import type { Clock } from "@resource-broker/base";
import { type Backoff, backoff } from "@resource-broker/kube";

/** Between calls to the broker about one request that were not answered. */
const PAUSES = { minMs: 500, maxMs: 30_000 };

/**
 * Pauses per request. They apply regardless of events: writing "the broker does not answer" into the status is an event
 * itself and must not cause an immediate retry.
 */
export function requestPauses(clock: Pick<Clock, "monotonicMs">, random: () => number) {
  const pauses = new Map<string, { readonly limiter: Backoff; readonly until: number }>();
  return {
    /** The pause after an unanswered call, at least as long as the broker asked for. */
    afterFailure: (key: string, leastMs = 1): number => {
      const limiter = pauses.get(key)?.limiter ?? backoff(PAUSES, { random, monotonicMs: clock.monotonicMs });
      const pauseMs = Math.max(leastMs, limiter.failed());
      pauses.set(key, { limiter, until: clock.monotonicMs() + pauseMs });
      return pauseMs;
    },
    remainingMs: (key: string): number => Math.max(0, (pauses.get(key)?.until ?? 0) - clock.monotonicMs()),
    end: (key: string): void => void pauses.delete(key),
  };
}
