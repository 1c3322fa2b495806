import type { UiTime } from "@resource-broker/contract/dashboard";
import type { Timers } from "./timers.ts";

/** The broker's clock decides what is stale or expired; the local clock may be wrong. */
export interface BrokerClock {
  readonly now: () => number;
  /** Told each time the broker says what time it is. */
  readonly set: (now: UiTime) => void;
}

export function createBrokerClock(timers: Timers): BrokerClock {
  let offsetMs = 0;
  return {
    now: () => timers.now() + offsetMs,
    set: (now) => {
      offsetMs = Date.parse(now) - timers.now();
    },
  };
}
