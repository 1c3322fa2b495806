import { setTimeout as sleep } from "node:timers/promises";
import { advertisementPages, readAll } from "@resource-broker/client";
import type { BrokerProcess } from "@resource-broker/testkit";
import type { Context, Size } from "../../evaluation-test.ts";
import { coreShare, coreShares, type Sample, sampleProcess } from "../../measure/sample-process.ts";
import { pidOf } from "../../measure/start-programs.ts";
import { median } from "../../measure/statistics.ts";
import { countText } from "../../report/format.ts";

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

/** A figure of one step, with the spread of its windows. */
export interface StepMetric {
  readonly count: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Percent of one core over the whole step; the spread is that of the intervals in it. */
export function cpuMetrics({ steps, intervalMs }: Staircase, fleet: Fleet): StepMetric[] {
  return metricsOf(steps, fleet, (samples) => ({
    value: coreShare(samples),
    each: coreShares(samples, intervalMs),
  }));
}

/** Resident memory in MB: the median of all looks. */
export function memoryMetrics(
  { steps }: Staircase,
  fleet: Fleet,
  of: "rssMb" | "privateMb" = "rssMb",
): StepMetric[] {
  return metricsOf(steps, fleet, (samples) => {
    const each = samples.map((sample) => sample[of]);
    return { value: median(each), each };
  });
}

interface Read {
  readonly value: number | undefined;
  readonly each: readonly number[];
}

function metricsOf(
  steps: readonly Step[],
  wanted: Fleet,
  read: (samples: readonly Sample[]) => Read,
): StepMetric[] {
  return steps.flatMap(({ fleet, count, samples }) => {
    const { value, each } = read(samples);
    if (fleet !== wanted || value === undefined) return [];
    return [{ count, value, low: Math.min(value, ...each), high: Math.max(value, ...each) }];
  });
}

/** What must be right however fast it is: everybody was heard, nobody was turned away. */
export function staircaseFaults({ steps }: Staircase): string[] {
  return steps.flatMap(({ fleet, count, heard, failed }) => [
    ...(heard === count
      ? []
      : [`of ${fleetText(count, fleet)} the broker had heard ${countText(heard)} lately`]),
    ...(failed === 0 ? [] : [`${countText(failed)} calls or streams of ${fleetText(count, fleet)} failed`]),
  ]);
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

const SAMPLE_EVERY_MS = 1_000;

/** What all parts of the staircase share. */
export interface StepContext {
  readonly plan: StaircasePlan;
  readonly onActivity: (doing: string) => void;
  /** So many milliseconds of the whole have passed. */
  readonly advance: (ms: number, doing: string) => void;
}

interface StepOptions {
  readonly stepContext: StepContext;
  readonly fleet: Fleet;
  readonly count: number;
  /** So far. */
  readonly failures: () => number;
}

/** Lets everything calm down, then watches the broker. */
export async function watchStep(
  { signal }: Context,
  broker: BrokerProcess,
  { stepContext, fleet, count, failures }: StepOptions,
): Promise<Step> {
  const { windowMs, settleMs } = stepContext.plan;
  const failedBefore = failures();
  await sleep(settleMs, undefined, { signal });
  let seenMs = 0;
  const samples = await sampleProcess(pidOf(broker), {
    everyMs: SAMPLE_EVERY_MS,
    forMs: windowMs,
    signal,
    onSample: ({ atMs }) => {
      stepContext.advance(atMs - seenMs, fleetText(count, fleet));
      seenMs = atMs;
    },
  });
  return {
    fleet,
    count,
    samples,
    heard: await countFreshClusters(broker),
    failed: failures() - failedBefore,
  };
}

/** How many clusters the broker has heard within the last interval and a half: the ones that are really there. */
export async function countFreshClusters(broker: BrokerProcess): Promise<number> {
  const advertisements = await readAll(broker.api(), advertisementPages());
  const times = advertisements.map(({ standing }) => Date.parse(standing?.receivedAt ?? ""));
  const newest = times.reduce((most, time) => Math.max(most, time), 0);
  return times.filter((time) => newest - time <= 1.5 * INTERVAL_MS).length;
}
