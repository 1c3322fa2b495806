import { setTimeout as sleep } from "node:timers/promises";
import { advertisementPages, readAll } from "@resource-broker/client";
import type { BrokerProcess } from "@resource-broker/testkit";
import type { BySize, Context } from "../../evaluation-test.ts";
import { inParallel } from "../../measure/async.ts";
import { type Sample, sampleProcess } from "../../measure/sample-process.ts";
import { pidOf } from "../../measure/start-programs.ts";
import { countText } from "../../report/format.ts";

/**
 * Who loads the broker. `agents`: real agent processes. `clients`: connections that say what an agent says, all in one
 * process, with a stream of instructions each. `pollers`: the same, but asking for instructions every 5 s, as the
 * predecessor's agents do.
 */
export const FLEETS = ["agents", "clients", "pollers"] as const;
export type Fleet = (typeof FLEETS)[number];

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

interface StaircasePlan {
  readonly counts: Readonly<Record<Fleet, readonly number[]>>;
  /** How long the broker is watched at each step. */
  readonly windowMs: number;
  /** How long it may calm down before. */
  readonly settleMs: number;
}

/** How often agents advertise, and pollers ask. */
export const INTERVAL_MS = 30_000;
export const POLL_MS = 5_000;
const SAMPLE_EVERY_MS = 1_000;

/** A window is a multiple of the interval: each has the same number of advertisements in it. */
export const PLANS: BySize<StaircasePlan> = {
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
export function secondsFor({ counts, windowMs, settleMs }: StaircasePlan): number {
  const steps = counts.agents.length + counts.clients.length + counts.pollers.length;
  const connecting =
    0.5 * (counts.agents.at(-1) ?? 0) + 0.008 * ((counts.clients.at(-1) ?? 0) + (counts.pollers.at(-1) ?? 0));
  return Math.round((steps * (windowMs + settleMs)) / 1000 + connecting + 5);
}

/** `1 real agent`, `1,000 protocol clients`. */
export function fleetText(count: number, fleet: Fleet): string {
  const [one, many] = FLEET_NAMES[fleet];
  return `${countText(count)} ${count === 1 ? one : many}`;
}

const FLEET_NAMES: Readonly<Record<Fleet, readonly [string, string]>> = {
  agents: ["real agent", "real agents"],
  clients: ["protocol client", "protocol clients"],
  pollers: ["protocol client that polls every 5 s", "protocol clients that poll every 5 s"],
};

interface Climber {
  readonly fleet: Fleet;
  readonly atOnce: number;
  readonly startOne: (number: number) => Promise<void>;
  /** So far. */
  readonly failures: () => number;
}

/** More and more of a fleet on one broker: at each step everything calms down, then the broker is watched. */
export async function climb(
  { size, signal, progress }: Context,
  broker: BrokerProcess,
  { fleet, atOnce, startOne, failures }: Climber,
): Promise<Step[]> {
  const { counts, windowMs, settleMs } = PLANS[size];
  const steps: Step[] = [];
  let known = 0;
  for (const [index, count] of counts[fleet].entries()) {
    const share = (part: number): number => (index + part) / counts[fleet].length;
    const doing = fleet === "agents" ? "starting agents" : "connecting clients";
    progress(share(0), `${doing}, up to ${count}`);
    const first = known;
    await inParallel({ count: count - first, atOnce, signal }, (number) => startOne(first + number));
    known = count;
    const failedBefore = failures();
    await sleep(settleMs, undefined, { signal });
    const samples = await sampleProcess(pidOf(broker), {
      everyMs: SAMPLE_EVERY_MS,
      forMs: windowMs,
      signal,
      onSample: ({ atMs }) => progress(share(atMs / windowMs), fleetText(count, fleet)),
    });
    const heard = await countFreshClusters(broker);
    steps.push({ fleet, count, samples, heard, failed: failures() - failedBefore });
  }
  return steps;
}

/** How many clusters the broker has heard within the last interval and a half: the ones that are really there. */
export async function countFreshClusters(broker: BrokerProcess): Promise<number> {
  const advertisements = await readAll(broker.api(), advertisementPages());
  const times = advertisements.map(({ standing }) => Date.parse(standing?.receivedAt ?? ""));
  const newest = times.reduce((most, time) => Math.max(most, time), 0);
  return times.filter((time) => newest - time <= 1.5 * INTERVAL_MS).length;
}
