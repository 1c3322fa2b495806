import type { Clock } from "@resource-broker/base";
import { wait } from "./backoff.ts";

export interface LoopOptions {
  readonly clock: Clock;
  /** One round; resolves with the pause before the next one. `signal` is given by `stop`. */
  readonly round: (signal: AbortSignal) => Promise<number>;
  /** Pause after `wake`, so that one round serves a burst. Absent: none. */
  readonly debounceMs?: number;
}

/** A round that is repeated between `start` and `stop`. */
export interface Loop {
  /** Does nothing when it was started or stopped before. */
  readonly start: () => void;
  /** Resolves when the current round is over. */
  readonly stop: () => Promise<void>;
  /** Ends the pause; during a round: the next one follows at once. */
  readonly wake: () => void;
}

export function loop({ clock, round, debounceMs = 0 }: LoopOptions): Loop {
  const ending = new AbortController();
  const { signal } = ending;
  let waking = new AbortController();
  let running: Promise<void> | undefined;

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const pauseMs = await round(signal);
      await wait(pauseMs, { clock, signal: AbortSignal.any([signal, waking.signal]) });
      if (!waking.signal.aborted) continue;
      waking = new AbortController();
      await wait(debounceMs, { clock, signal });
    }
  };

  return {
    start: () => {
      running ??= run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
    wake: () => waking.abort(),
  };
}
