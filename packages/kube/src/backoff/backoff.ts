import type { Clock } from "@resource-broker/base";
export interface BackoffOptions {
  /** The first bound. Absent: 100 ms. */
  readonly minMs?: number;
  readonly maxMs: number;
}

export interface BackoffDeps {
  /** In [0, 1). */
  readonly random: () => number;
  readonly monotonicMs: () => number;
}

export interface Backoff {
  /** An attempt failed; returns the delay before the next one. */
  readonly failed: () => number;
  /** An attempt succeeded. The delay is reset only after a while, so that a flapping server is not overloaded. */
  readonly succeeded: () => void;
}

const MIN_MS = 100;
/** After this time without a failure the next one counts as the first. */
const RESET_AFTER_MS = 10_000;

export function backoff(options: BackoffOptions, deps: BackoffDeps): Backoff {
  const { minMs = MIN_MS, maxMs } = options;
  let failures = 0;
  let worksSince: number | undefined;
  return {
    failed: () => {
      if (worksSince !== undefined && deps.monotonicMs() - worksSince >= RESET_AFTER_MS) failures = 0;
      worksSince = undefined;
      return jitteredDelay({ failures: failures++, minMs, maxMs }, deps.random);
    },
    succeeded: () => {
      worksSince ??= deps.monotonicMs();
    },
  };
}

export interface DelayInput {
  readonly failures: number;
  readonly minMs: number;
  readonly maxMs: number;
}

/**
 * A random delay below a bound that doubles with each failure ("full jitter"), so that clients that failed at the same time
 * retry at different times.
 */
export function jitteredDelay({ failures, minMs, maxMs }: DelayInput, random: () => number): number {
  return Math.floor(random() * Math.min(maxMs, minMs * 2 ** failures));
}

/** Resolves when the time has passed or the signal, if there is one, is given, whichever is first. */
export async function wait(
  delayMs: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted === true || delayMs <= 0) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal?.addEventListener("abort", end);
  });
}
