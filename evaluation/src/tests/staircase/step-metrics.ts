import { coreShare, coreShares, type Sample } from "../../measure/sample-process.ts";
import { median } from "../../measure/statistics.ts";
import { countText } from "../../report/number-text.ts";
import type { Fleet, Staircase, Step } from "./staircase.ts";

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
