import { failureReporter, toFault, wait } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { Resync } from "../broker/census.ts";

const RESYNC_MS = 60_000;
const RETRY_MS = 30_000;
/** Triggers come in bursts: one resync serves all of them. */
const DEBOUNCE_MS = 100;

export interface ResyncLoopDeps {
  readonly resync: Resync;
  /** Offers the broker the reservations that it does not know. */
  readonly offer: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs a resync every minute, sooner while something is missing, and at once after a trigger. */
export interface ResyncLoop {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  readonly trigger: () => void;
}

export function resyncLoop({ resync, offer, clock, log }: ResyncLoopDeps): ResyncLoop {
  const reporter = failureReporter({
    log,
    clock,
    fields: {},
    what: "comparing reservations with the broker",
  });
  const ending = new AbortController();
  let wakeUp = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const runOnce = async (): Promise<void> => {
    try {
      await resync.run();
      await offer();
      reporter.recovered();
    } catch (error) {
      reporter.failed(toFault(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await runOnce();
      const pauseMs = resync.hasMissing() || reporter.current() !== undefined ? RETRY_MS : RESYNC_MS;
      await wait(pauseMs, { clock, signal: AbortSignal.any([ending.signal, wakeUp.signal]) });
      if (wakeUp.signal.aborted) {
        wakeUp = new AbortController();
        await wait(DEBOUNCE_MS, { clock, signal: ending.signal });
      }
    }
  };

  return {
    start: () => {
      running = run();
    },
    stop: async () => {
      ending.abort();
      await running;
    },
    trigger: () => wakeUp.abort(),
  };
}
