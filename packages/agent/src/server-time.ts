import type { Clock } from "@resource-broker/base";

/** `Date` counts whole seconds, so an answer may show up to one second less than the server's clock. */
const DATE_STEP_MS = 1000;
/** The longest time that an answer may take. */
const MAX_LATENCY_MS = 5000;

/**
 * A server's time, taken from the `Date` of its answers and continued with the local monotonic clock. A wrong
 * or jumping local clock therefore ends nothing early or late.
 */
export function serverTime(clock: Pick<Clock, "monotonicMs">) {
  let offset: number | undefined;
  return {
    /** Undefined before the server has answered for the first time. */
    now: (): number | undefined => (offset === undefined ? undefined : clock.monotonicMs() + offset),
    /** Takes the `Date` of an answer. */
    observe: (serverTimeMs: number): void => {
      const least = serverTimeMs - clock.monotonicMs();
      // The latest time that an answer proves is the best estimate, unless the server's clock was set back.
      const isSetBack = offset !== undefined && least < offset - DATE_STEP_MS - MAX_LATENCY_MS;
      if (offset === undefined || least > offset || isSetBack) offset = least;
    },
  };
}

/** The clock with which times in the objects of a server are compared; before its first answer the local one. */
export function serverClock(clock: Clock, { now }: Pick<ReturnType<typeof serverTime>, "now">): Clock {
  return {
    wallMs: () => now() ?? clock.wallMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, action) => clock.after(delayMs, action),
  };
}
