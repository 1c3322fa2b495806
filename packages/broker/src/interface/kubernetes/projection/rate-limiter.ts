import { type Clock, Fault, type FaultCode, type Log, toFault } from "@resource-broker/base";
import { backoff, failureReporter, wait } from "@resource-broker/kube";

export interface RateLimiterDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Ends all waiting writes. */
  readonly signal: AbortSignal;
}

/** One rate for the writes of all lanes, in the order they come. */
export interface RateLimiter {
  /** The writes of one kind. A failure of this kind, such as a missing CRD, does not delay the others. */
  readonly lane: (what: string) => WriteLane;
}

export interface WriteLane {
  /** Runs the write when the rate allows it. Rejects with the error of the write. */
  readonly run: <T>(write: () => Promise<T>) => Promise<T>;
  /** True while a server fault lasts: then one write at a time should probe whether it works again. */
  readonly isFailing: () => boolean;
}

/**
 * Faults that affect all objects: the server is unreachable or overloaded, access is denied, or namespace or CRD are missing.
 * After one of them all writes of the lane wait.
 */
const SERVER_FAULTS: readonly FaultCode[] = [
  "unreachable",
  "overloaded",
  "rate-limited",
  "unauthenticated",
  "forbidden",
  "method-not-allowed",
  "not-found",
];
const MAX_BACKOFF_MS = 10_000;

export function isServerFault(fault: Fault): boolean {
  return SERVER_FAULTS.includes(fault.code);
}

/** `perSecond` writes on average; after an idle time `burst` at once, so at most `perSecond + burst` in any second. */
export function rateLimiter(
  { perSecond, burst }: { readonly perSecond: number; readonly burst: number },
  deps: RateLimiterDeps,
): RateLimiter {
  const { clock, signal } = deps;
  const intervalMs = 1000 / perSecond;
  /** The time of the next free slot; up to `burst` slots in the past can still be used. */
  let nextSlot = Number.NEGATIVE_INFINITY;

  const waitForSlot = async (): Promise<void> => {
    const now = clock.monotonicMs();
    const slot = Math.max(nextSlot, now - intervalMs * (burst - 1));
    nextSlot = slot + intervalMs;
    await wait(Math.ceil(slot - now), deps);
  };
  const lane = (what: string): WriteLane => {
    const retryBackoff = backoff({ maxMs: MAX_BACKOFF_MS }, { ...deps, monotonicMs: clock.monotonicMs });
    const failures = failureReporter({ ...deps, fields: {}, what });
    let pausedUntil = 0;

    const failed = (fault: Fault): void => {
      failures.failed(fault);
      const pauseMs = Math.max(retryBackoff.failed(), fault.details.retryAfterMs ?? 0, 1);
      pausedUntil = clock.monotonicMs() + pauseMs;
    };
    const succeeded = (): void => {
      retryBackoff.succeeded();
      failures.recovered();
    };
    return {
      run: async (write) => {
        await wait(pausedUntil - clock.monotonicMs(), deps);
        await waitForSlot();
        if (signal.aborted) throw new Fault("overloaded", `${what} has ended`);
        try {
          const written = await write();
          succeeded();
          return written;
        } catch (error) {
          const fault = toFault(error);
          if (isServerFault(fault)) failed(fault);
          else succeeded();
          throw error;
        }
      },
      isFailing: () => failures.current() !== undefined,
    };
  };
  return { lane };
}
