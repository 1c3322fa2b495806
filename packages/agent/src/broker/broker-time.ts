import type { Clock } from "@resource-broker/base";

/** `Date` counts whole seconds, so an answer may show up to one second less than the broker's clock. */
const DATE_STEP_MS = 1000;
/** The longest time that an answer may take. */
const MAX_LATENCY_MS = 5000;

/**
 * The broker's time, taken from the `Date` of its answers and continued with the local monotonic clock. A wrong
 * or jumping local clock therefore ends no reservation early or late.
 */
export function brokerTime(clock: Pick<Clock, "monotonicMs">) {
  let offset: number | undefined;
  return {
    /** Undefined before the broker has answered for the first time. */
    now: (): number | undefined => (offset === undefined ? undefined : clock.monotonicMs() + offset),
    /** Takes the `Date` of an answer. */
    observe: (brokerTimeMs: number): void => {
      const least = brokerTimeMs - clock.monotonicMs();
      // The latest time that an answer proves is the best estimate, unless the broker's clock was set back.
      const isSetBack = offset !== undefined && least < offset - DATE_STEP_MS - MAX_LATENCY_MS;
      if (offset === undefined || least > offset || isSetBack) offset = least;
    },
  };
}
