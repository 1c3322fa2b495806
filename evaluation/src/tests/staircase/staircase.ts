import type { Size } from "../../evaluation-test.ts";
import type { Sample } from "../../measure/sample-process.ts";

/**
 * Who loads the broker. `agents`: real agent processes. `clients`: connections that say what an agent says, all in one
 * process, with a stream of instructions each. `pollers`: the same, but asking for instructions every 5 s, as the
 * predecessor's agents do.
 */
export type Fleet = "agents" | "clients" | "pollers";

/** A broker with so many of them, for so long. */
export interface Step {
  readonly fleet: Fleet;
  readonly count: number;
  readonly samples: readonly Sample[];
  /** How many the broker had heard within the last interval and a half, at the end. */
  readonly heard: number;
  /** Requests that were not answered with success, and connections that the broker ended. */
  readonly failed: number;
}

/** The broker's CPU and memory as more and more clusters come. */
export interface Staircase {
  readonly windowMs: number;
  readonly intervalMs: number;
  readonly steps: readonly Step[];
}

export interface StaircasePlan {
  readonly counts: Readonly<Record<Fleet, readonly number[]>>;
  /** How long the broker is watched at each step. */
  readonly windowMs: number;
  /** How long it may calm down before. */
  readonly settleMs: number;
}

/** How often agents advertise, and pollers ask. */
export const INTERVAL_MS = 30_000;
export const POLL_MS = 5_000;

/** A window is a multiple of the interval: each has the same number of advertisements in it. */
export const PLANS: Readonly<Record<Size, StaircasePlan>> = {
  smoke: { counts: { agents: [1, 2], clients: [20], pollers: [10] }, windowMs: 2_000, settleMs: 300 },
  quick: { counts: { agents: [1, 10], clients: [], pollers: [] }, windowMs: 30_000, settleMs: 2_000 },
  full: {
    counts: {
      agents: [0, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100],
      clients: [1_000, 10_000],
      pollers: [100, 1_000, 10_000],
    },
    windowMs: 60_000,
    settleMs: 5_000,
  },
};

/** Agents take half a second each to start on one core, clients some milliseconds each to connect. */
export function expectedSeconds(size: Size): number {
  const { counts, windowMs, settleMs } = PLANS[size];
  const steps = counts.agents.length + counts.clients.length + counts.pollers.length;
  const connecting =
    0.5 * (counts.agents.at(-1) ?? 0) + 0.008 * ((counts.clients.at(-1) ?? 0) + (counts.pollers.at(-1) ?? 0));
  return Math.round((steps * (windowMs + settleMs)) / 1000 + connecting + 5);
}
