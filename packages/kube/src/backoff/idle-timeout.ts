import { type Clock, Fault } from "@resource-broker/base";

export interface IdleTimeoutOptions {
  /** Name of the request, such as "the list of pods". */
  readonly what: string;
  readonly limitMs: number;
  /** Also aborts the request. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** Idle timeout of one request: aborts it when the server sends nothing for too long. */
export interface IdleTimeout {
  readonly signal: AbortSignal;
  /** The server sent something: restarts the timeout, optionally with a new limit. */
  readonly reset: (limitMs?: number) => void;
  /** True: the request was aborted by the timeout. */
  readonly timedOut: () => boolean;
  /** Runs the request. When it is aborted, throws the reason of the abort. */
  readonly run: <R>(request: () => Promise<R>) => Promise<R>;
}

export function idleTimeout(options: IdleTimeoutOptions): IdleTimeout {
  const { clock, what } = options;
  const controller = new AbortController();
  let limitMs = options.limitMs;
  let lastActivityMs = clock.monotonicMs();
  let hasTimedOut = false;
  let cancel = () => {};

  // The timer is not restarted for each object: when it fires, it checks the time since the last one.
  const check = (): void => {
    const leftMs = limitMs - (clock.monotonicMs() - lastActivityMs);
    if (leftMs > 0) {
      // Timers have millisecond resolution and may fire early.
      cancel = clock.after(Math.ceil(leftMs), check);
      return;
    }
    hasTimedOut = true;
    controller.abort(
      new Fault("unreachable", `the API server sent nothing for ${limitMs / 1000} s during ${what}`),
    );
  };

  return {
    signal: controller.signal,
    reset: (newLimitMs) => {
      lastActivityMs = clock.monotonicMs();
      if (newLimitMs === undefined || newLimitMs === limitMs) return;
      limitMs = newLimitMs;
      cancel();
      cancel = clock.after(limitMs, check);
    },
    timedOut: () => hasTimedOut,
    run: async (request) => {
      const abort = () => controller.abort(options.signal.reason);
      options.signal.addEventListener("abort", abort);
      if (options.signal.aborted) abort();
      cancel = clock.after(limitMs, check);
      try {
        controller.signal.throwIfAborted();
        const result = await request();
        controller.signal.throwIfAborted();
        return result;
      } catch (error) {
        controller.signal.throwIfAborted();
        throw error;
      } finally {
        cancel();
        options.signal.removeEventListener("abort", abort);
      }
    },
  };
}
