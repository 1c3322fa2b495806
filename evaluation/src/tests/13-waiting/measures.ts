import type { FleetCluster, Job, JobTrace, TraceTenant } from "@resource-broker/testkit";
import { type Distribution, distributionOf, mean } from "../../measure/statistics.ts";
import type { JobOutcome } from "./replay.ts";

const MINUTE_MS = 60_000;
/** Shorter jobs count as this long: a minute's wait is no harm to them. */
const SHORTEST_MS = 10 * MINUTE_MS;
const SAMPLE_EVERY_MS = 5 * MINUTE_MS;
const POINTS = 96;
/** Of the trace's CPU: what few clusters can hold. */
export const LARGE_CPUS = 12;

export interface TenantMeasures {
  readonly tenant: string;
  readonly weight: number;
  readonly jobs: number;
  /** Minutes; who was never served counts with all it waited. */
  readonly waited: Distribution;
  readonly neverServed: number;
  /** How much longer than alone: (wait + duration) / duration, on average. */
  readonly slowdown: number;
  /** CPU held while some of its jobs waited, for each unit of weight; absent: none ever did. */
  readonly heldPerWeight?: number;
}

export interface Measures {
  /** Percent of the fleet's CPU while jobs arrived. */
  readonly utilisation: number;
  readonly utilisationOverTime: readonly { readonly hours: number; readonly percent: number }[];
  readonly tenants: readonly TenantMeasures[];
  readonly waited: Distribution;
  readonly waitedLarge: Distribution | undefined;
  readonly neverServed: number;
  /** CPU of the smallest job that was never served. */
  readonly leastNeverServed?: number;
  /** Jain's index over the tenants' slowdowns, and over what each held for its weight while it waited. */
  readonly fairSlowdown: number;
  readonly fairShare: number;
}

export interface Measured {
  readonly trace: JobTrace;
  readonly clusters: readonly FleetCluster[];
  readonly tenants: readonly TraceTenant[];
  readonly outcomes: readonly JobOutcome[];
  readonly waitsForMs: number;
}

/** A job with its fate. */
interface Fate extends Job {
  readonly waitedMs: number;
  readonly startedAtMs: number | undefined;
}

export function measuresOf({ trace, clusters, tenants, outcomes, waitsForMs }: Measured): Measures {
  const fates = trace.jobs.map((job, index): Fate => {
    const startedAtMs = outcomes[index]?.startedAtMs;
    return { ...job, startedAtMs, waitedMs: startedAtMs === undefined ? waitsForMs : startedAtMs - job.atMs };
  });
  const cpus = clusters.reduce((sum, each) => sum + each.cpus, 0);
  const percentIn = (from: number, to: number): number =>
    (100 * cpuMsIn(fates, from, to)) / (cpus * Math.max(1, to - from));
  const step = trace.lastsMs / POINTS;
  const never = neverServedOf(fates);
  const each = tenants.map((tenant) => tenantMeasures(tenant, fates, trace.lastsMs));
  return {
    utilisation: percentIn(0, trace.lastsMs),
    utilisationOverTime: Array.from({ length: POINTS }, (_, at) => ({
      hours: ((at + 0.5) * step) / (60 * MINUTE_MS),
      percent: percentIn(at * step, (at + 1) * step),
    })),
    tenants: each,
    waited: minutes(fates) ?? NOBODY,
    waitedLarge: minutes(fates.filter((fate) => fate.cpus >= LARGE_CPUS)),
    neverServed: never.length,
    ...(never.length === 0 ? {} : { leastNeverServed: Math.min(...never.map((fate) => fate.cpus)) }),
    fairSlowdown: jainIndex(each.filter(({ jobs }) => jobs > 0).map(({ slowdown }) => slowdown)),
    fairShare: jainIndex(each.flatMap(({ heldPerWeight }) => heldPerWeight ?? [])),
  };
}

/** From 1 / n (one has everything) to 1 (all have the same): (Σx)² / (n Σx²). */
export function jainIndex(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return squares === 0 ? 1 : (sum * sum) / (values.length * squares);
}

const NOBODY: Distribution = { count: 0, mean: 0, median: 0, p95: 0, p99: 0, least: 0, most: 0 };

function neverServedOf(fates: readonly Fate[]): Fate[] {
  return fates.filter(({ startedAtMs }) => startedAtMs === undefined);
}

function minutes(fates: readonly Fate[]): Distribution | undefined {
  return distributionOf(fates.map(({ waitedMs }) => waitedMs / MINUTE_MS));
}

function cpuMsIn(fates: readonly Fate[], from: number, to: number): number {
  let sum = 0;
  for (const { startedAtMs = to, durationMs, cpus } of fates)
    sum += cpus * Math.max(0, Math.min(to, startedAtMs + durationMs) - Math.max(from, startedAtMs));
  return sum;
}

function tenantMeasures(
  { name, weight }: TraceTenant,
  fates: readonly Fate[],
  lastsMs: number,
): TenantMeasures {
  const own = fates.filter(({ tenant }) => tenant === name);
  const slowdowns = own.map(
    ({ waitedMs, durationMs }) => (waitedMs + durationMs) / Math.max(durationMs, SHORTEST_MS),
  );
  const held = heldWhileWaiting(own, lastsMs);
  return {
    tenant: name,
    weight,
    jobs: own.length,
    waited: minutes(own) ?? NOBODY,
    neverServed: neverServedOf(own).length,
    slowdown: mean(slowdowns.map((slowdown) => Math.max(1, slowdown))) ?? 1,
    ...(held === undefined ? {} : { heldPerWeight: held / weight }),
  };
}

/** Mean CPU held at the moments at which some of these jobs waited. */
function heldWhileWaiting(own: readonly Fate[], lastsMs: number): number | undefined {
  const samples: number[] = [];
  for (let at = 0; at < lastsMs; at += SAMPLE_EVERY_MS) {
    const isWaiting = own.some(({ atMs, waitedMs }) => atMs <= at && at < atMs + waitedMs);
    if (isWaiting) samples.push(cpusHeldAt(own, at));
  }
  return mean(samples);
}

function cpusHeldAt(fates: readonly Fate[], at: number): number {
  let held = 0;
  for (const { startedAtMs, durationMs, cpus } of fates)
    if (startedAtMs !== undefined && startedAtMs <= at && at < startedAtMs + durationMs) held += cpus;
  return held;
}

/** Counts a second time, from the outcomes alone, whether a provider ever lent more than it has. */
export function overlentIn({
  trace,
  clusters,
  outcomes,
}: Omit<Measured, "tenants" | "waitsForMs">): string[] {
  return clusters.flatMap(({ clusterId, cpus, memoryGi }) => {
    const changes = trace.jobs.flatMap((job, index) => {
      const { startedAtMs, provider } = outcomes[index] ?? {};
      if (startedAtMs === undefined || provider !== clusterId) return [];
      const endsAtMs = startedAtMs + job.durationMs + job.teardownMs;
      return [
        { at: startedAtMs, cpus: job.cpus, memoryGi: job.memoryGi },
        { at: endsAtMs, cpus: -job.cpus, memoryGi: -job.memoryGi },
      ];
    });
    let [lentCpus, lentGi, mostCpus, mostGi] = [0, 0, 0, 0];
    for (const change of changes.sort((a, b) => a.at - b.at || a.cpus - b.cpus)) {
      lentCpus += change.cpus;
      lentGi += change.memoryGi;
      mostCpus = Math.max(mostCpus, lentCpus);
      mostGi = Math.max(mostGi, lentGi);
    }
    const isOver = mostCpus > cpus || mostGi > memoryGi;
    return isOver ? [`${clusterId} lent ${mostCpus} CPU and ${mostGi} GiB of ${cpus} and ${memoryGi}`] : [];
  });
}
