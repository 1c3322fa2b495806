import { failureReporter, toFault, wait } from "@resource-broker/kube";
import type { Clock, Log } from "@resource-broker/runtime";
import type { Census } from "../broker/census.ts";

const EVERY_MS = 60_000;
const SOON_MS = 30_000;
/** Triggers come in bursts: one resync serves all of them. */
const GATHER_MS = 100;

export interface CensusRoundsDeps {
  readonly census: Census;
  /** Offers the broker the reservations that it does not know. */
  readonly offer: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs a resync every minute, sooner while something is missing, and at once after a trigger. */
export interface CensusRounds {
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  readonly hurry: () => void;
}

export function censusRounds({ census, offer, clock, log }: CensusRoundsDeps): CensusRounds {
  const counting = failureReporter({
    log,
    clock,
    fields: {},
    what: "comparing reservations with the broker",
  });
  const ending = new AbortController();
  let alarm = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const round = async (): Promise<void> => {
    try {
      await census.take();
      await offer();
      counting.recovered();
    } catch (error) {
      counting.failed(toFault(error));
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await round();
      const pauseMs = census.hasSuspects() || counting.current() !== undefined ? SOON_MS : EVERY_MS;
      await wait(pauseMs, { clock, signal: AbortSignal.any([ending.signal, alarm.signal]) });
      if (alarm.signal.aborted) {
        alarm = new AbortController();
        await wait(GATHER_MS, { clock, signal: ending.signal });
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
    hurry: () => alarm.abort(),
  };
}
