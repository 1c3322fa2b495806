export interface BackoffOptions {
  /** The first bound. Absent: 100 ms. */
  readonly minMs?: number;
  readonly maxMs: number;
  /** So long must things have worked for the next failure to count as the first again. Absent: 10 s. */
  readonly resetAfterMs?: number;
}

export interface BackoffDeps {
  /** In [0, 1). */
  readonly random: () => number;
  readonly monotonicMs: () => number;
}

/** How long to wait between tries that fail. */
export interface Backoff {
  /** A try failed; returns how long to wait before the next one. */
  readonly failed: () => number;
  /** It works now. What fails again at once goes on where it was, so a server that flaps is not hammered. */
  readonly works: () => void;
}

const MIN_MS = 100;
const RESET_AFTER_MS = 10_000;

export function backoff(options: BackoffOptions, deps: BackoffDeps): Backoff {
  const { minMs = MIN_MS, maxMs, resetAfterMs = RESET_AFTER_MS } = options;
  let failures = 0;
  let worksSince: number | undefined;
  return {
    failed: () => {
      if (worksSince !== undefined && deps.monotonicMs() - worksSince >= resetAfterMs) failures = 0;
      worksSince = undefined;
      return pauseAfter({ failures: failures++, minMs, maxMs }, deps.random);
    },
    works: () => {
      worksSince ??= deps.monotonicMs();
    },
  };
}

export interface Pause {
  /** How often it failed before. */
  readonly failures: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * A random part of a bound that doubles with each failure. The whole of it is random ("full jitter"), so that many
 * that failed in the same moment come back spread out.
 */
export function pauseAfter({ failures, minMs, maxMs }: Pause, random: () => number): number {
  return Math.floor(random() * Math.min(maxMs, minMs * 2 ** failures));
}
