import { systemClock } from "@resource-broker/runtime";

/** The clocks of this machine. */
export const MACHINE_CLOCK = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
