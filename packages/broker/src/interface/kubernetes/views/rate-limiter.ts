import { type Clock, Fault, type FaultCode, type Log, toFault } from "@resource-broker/base";
import { backoff, failureReporter } from "@resource-broker/kube";

export interface RateLimiterOptions {
  /** On average. */
  readonly perSecond: number;
  /** Burst after an idle time: at most `perSecond + burst` writes per second. */
  readonly burst: number;
}

export interface RateLimiterDeps {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly log: Log;
}

/** Limits the rate of writes and keeps their order. */
export interface RateLimiter {
  readonly queue: (what: string) => WriteQueue;
  /** Rejects all waiting and all future writes. */
  readonly close: () => void;
}

/** The writes of one kind. A failure of this kind, such as a missing CRD, does not delay the others. */
export interface WriteQueue {
  /** Runs the write when the rate allows it. Rejects with the error of the write. */
  readonly run: <T>(write: () => Promise<T>) => Promise<T>;
  /** True while writes wait. */
  readonly isBusy: () => boolean;
}

/**
 * Faults that affect all objects: the server is unreachable or overloaded, access is denied, or namespace or CRD are missing.
 * Then all writes wait, and one write at a time probes whether it works again.
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

export function rateLimiter({ perSecond, burst }: RateLimiterOptions, deps: RateLimiterDeps): RateLimiter {
  const { clock } = deps;
  const bucket = { tokens: burst, at: clock.monotonicMs() };
  const queues: RateLimitedQueue[] = [];
  let nextIndex = 0;
  let isClosed = false;
  let cancel = (): void => undefined;

  const refill = (): void => {
    const now = clock.monotonicMs();
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) * perSecond) / 1000);
    bucket.at = now;
  };
  /** Round robin over the queues, so that a long queue does not block a short one. */
  const nextReady = (): RateLimitedQueue | undefined => {
    const now = clock.monotonicMs();
    for (let step = 0; step < queues.length; step++) {
      const queue = queues[(nextIndex + step) % queues.length];
      if (queue === undefined || queue.readyAt(now) > now) continue;
      nextIndex = (nextIndex + step + 1) % queues.length;
      return queue;
    }
    return undefined;
  };
  const dispatch = (): void => {
    refill();
    while (bucket.tokens >= 1) {
      const queue = nextReady();
      if (queue === undefined) break;
      bucket.tokens--;
      queue.runNext();
    }
    cancel();
    const now = clock.monotonicMs();
    const readyAt = Math.min(...queues.map((queue) => queue.readyAt(now)));
    if (!Number.isFinite(readyAt)) return;
    const tokenAt = now + (Math.max(0, 1 - bucket.tokens) * 1000) / perSecond;
    cancel = clock.after(Math.max(1, Math.ceil(Math.max(readyAt, tokenAt) - now)), dispatch);
  };

  return {
    queue: (what) => {
      const queue = rateLimitedQueue(what, { ...deps, dispatch, isClosed: () => isClosed });
      queues.push(queue);
      return { run: queue.run, isBusy: queue.isBusy };
    },
    close: () => {
      isClosed = true;
      cancel();
      for (const queue of queues) queue.rejectAll();
    },
  };
}

/** A queue of writes and what the rate limiter needs to run them. */
interface RateLimitedQueue extends WriteQueue {
  /** When the next write may run. Infinity: no write waits, or a probe is running. */
  readonly readyAt: (now: number) => number;
  readonly runNext: () => void;
  readonly rejectAll: () => void;
}

interface QueueDeps extends RateLimiterDeps {
  readonly dispatch: () => void;
  readonly isClosed: () => boolean;
}

interface Waiting {
  readonly run: () => void;
  readonly reject: (fault: Fault) => void;
}

function rateLimitedQueue(what: string, deps: QueueDeps): RateLimitedQueue {
  const { clock, random, log, dispatch, isClosed } = deps;
  const waiting = new Set<Waiting>();
  const retryBackoff = backoff({ maxMs: MAX_BACKOFF_MS }, { random, monotonicMs: clock.monotonicMs });
  const failures = failureReporter({ log, clock, fields: {}, what });
  let running = 0;
  let pausedUntil = 0;

  const waitForToken = async (): Promise<void> => {
    if (isClosed()) throw closed(what);
    await new Promise<void>((resolve, reject) => {
      waiting.add({ run: resolve, reject });
      dispatch();
    });
  };
  const failed = (fault: Fault): void => {
    if (!isServerFault(fault)) {
      succeeded();
      return;
    }
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
      await waitForToken();
      running++;
      try {
        const written = await write();
        succeeded();
        return written;
      } catch (error) {
        failed(toFault(error));
        throw error;
      } finally {
        running--;
        dispatch();
      }
    },
    isBusy: () => waiting.size > 0,
    readyAt: (now) => {
      const isProbing = failures.current() !== undefined && running > 0;
      return waiting.size === 0 || isProbing ? Number.POSITIVE_INFINITY : Math.max(now, pausedUntil);
    },
    runNext: () => {
      const [first] = waiting;
      if (first === undefined) return;
      waiting.delete(first);
      first.run();
    },
    rejectAll: () => {
      for (const { reject } of waiting) reject(closed(what));
      waiting.clear();
    },
  };
}

function closed(what: string): Fault {
  return new Fault("overloaded", `${what} has ended`);
}
