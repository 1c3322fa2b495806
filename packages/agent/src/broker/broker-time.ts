import type { MachineTime } from "@resource-broker/runtime";

/**
 * The broker's time as far as its answers tell it, carried on by this machine's monotonic clock: an agent whose own
 * clock is an hour off, or jumps, still ends nothing early or late.
 */
export interface BrokerTime {
  /** Undefined before the broker has answered for the first time. */
  readonly now: () => number | undefined;
  /** Takes in the `Date` of an answer. */
  readonly observe: (brokerTimeMs: number) => void;
}

/** `Date` counts whole seconds, so an answer may show up to one second less than the broker's clock. */
const DATE_STEP_MS = 1000;
/** How long an answer may have travelled. */
const TRAVEL_MS = 5000;

export function brokerTime(machine: Pick<MachineTime, "monotonicMs">): BrokerTime {
  let offset: number | undefined;
  return {
    now: () => (offset === undefined ? undefined : machine.monotonicMs() + offset),
    observe: (brokerTimeMs) => {
      const least = brokerTimeMs - machine.monotonicMs();
      // The latest of the moments that answers prove is the best guess, unless the broker's clock was set back.
      const isSetBack = offset !== undefined && least < offset - DATE_STEP_MS - TRAVEL_MS;
      if (offset === undefined || least > offset || isSetBack) offset = least;
    },
  };
}
