import type { SeededRandom } from "../broker/seeded-random.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A cluster of a simulated fleet: it lends, and some of them request. */
export interface FleetCluster {
  readonly clusterId: string;
  readonly cpus: number;
  readonly memoryGi: number;
}

/** Who shares the fleet, and how much it asks for. */
export interface TraceTenant {
  readonly name: string;
  readonly weight: number;
  /** Its part of all submissions, beside the others'. */
  readonly demand: number;
}

/** One request of a trace: who asks when, for what, and how long it is used. */
export interface Job {
  readonly id: string;
  /** From the beginning of the trace. */
  readonly atMs: number;
  readonly requester: string;
  /** Also the namespace of its requests. */
  readonly tenant: string;
  readonly priority: number;
  readonly cpus: number;
  readonly memoryGi: number;
  readonly durationMs: number;
  /** The broker is not told how long it lasts: it is released after its duration. */
  readonly isOpenEnded: boolean;
  /** From the end of its reservation until the provider has its capacity back. */
  readonly teardownMs: number;
}

export interface JobTraceOptions {
  readonly random: SeededRandom;
  readonly count: number;
  readonly clusters: readonly FleetCluster[];
  readonly tenants: readonly TraceTenant[];
  /** What is asked for, beside what the fleet has while the trace lasts: 1 is all of it. Sets how long the trace is. */
  readonly load: number;
  /** Part of the jobs whose duration is not stated. */
  readonly openEnded?: number;
  /** Part of the submissions that go before all others. */
  readonly urgent?: number;
}

export interface JobTrace {
  /** Sorted by time. */
  readonly jobs: readonly Job[];
  /** Within which they arrive. */
  readonly lastsMs: number;
}

/**
 * Jobs as public cluster traces have them: most are small and short, a few are very large or very long, they come in bursts
 * and by day. Nobody asks from one of the larger clusters, so that no request has its best provider to itself. The same seed
 * gives the same trace.
 */
export function makeJobTrace({ random, count, openEnded = 0, ...options }: JobTraceOptions): JobTrace {
  const bySize = options.clusters.toSorted((a, b) => a.cpus - b.cpus);
  const [largest] = bySize.slice(-1);
  if (largest === undefined) throw new RangeError("a trace needs a cluster");
  const requesters = bySize.slice(0, Math.max(1, Math.floor(bySize.length / 2)));
  const drafts: Draft[] = [];
  while (drafts.length < count) {
    const submission = submit(random, { ...options, requesters, largest });
    drafts.push(...submission.slice(0, count - drafts.length));
  }
  const cpuMs = drafts.reduce((sum, { cpus, durationMs }) => sum + cpus * durationMs, 0);
  const fleetCpus = options.clusters.reduce((sum, { cpus }) => sum + cpus, 0);
  const lastsMs = Math.ceil(cpuMs / (fleetCpus * options.load));
  const jobs = drafts
    .map(({ moment, delayMs, ...job }) => ({
      ...job,
      isOpenEnded: random.chance(openEnded),
      atMs: Math.min(lastsMs, Math.round(byDay(moment, lastsMs) + delayMs)),
    }))
    .sort((a, b) => a.atMs - b.atMs)
    .map((job, number) => ({ ...job, id: `job-${String(number).padStart(6, "0")}` }));
  return { jobs, lastsMs };
}

type Draft = Omit<Job, "id" | "atMs" | "isOpenEnded"> & {
  /** Of its submission, as a part of the work of all days: 0 to 1. */
  readonly moment: number;
  readonly delayMs: number;
};

interface Submitting extends Pick<JobTraceOptions, "tenants" | "urgent"> {
  readonly requesters: readonly FleetCluster[];
  readonly largest: FleetCluster;
}

const BURSTS = 0.06;
const BURST_MS = 3 * MINUTE_MS;
/** A sweep of very large jobs alone would take days. */
const MOST_IN_BURST = 4;
const URGENT = 0.05;
const URGENT_PRIORITY = 10;
const LONGEST_TEARDOWN_MS = 4 * MINUTE_MS;

/** Usually one job; sometimes many alike, as when somebody starts a sweep. */
function submit(
  random: SeededRandom,
  { tenants, requesters, largest, urgent = URGENT }: Submitting,
): Draft[] {
  const tenant = byDemand(random, tenants).name;
  const requester = random.pick(requesters)?.clusterId ?? largest.clusterId;
  const priority = random.chance(urgent) ? URGENT_PRIORITY : 0;
  const moment = share(random);
  const jobs = random.chance(BURSTS) ? random.between(5, 40) : 1;
  const cpus = cpusOf(random, jobs > 1 ? MOST_IN_BURST : largest.cpus * LARGEST_PART);
  const memoryGi = Math.min(largest.memoryGi * LARGEST_PART, cpus * (random.pick([1, 2, 2, 4, 4]) ?? 4));
  return Array.from({ length: jobs }, () => ({
    requester,
    tenant,
    priority,
    cpus,
    memoryGi: Math.max(1, Math.floor(memoryGi)),
    durationMs: durationOf(random),
    teardownMs: random.between(5000, LONGEST_TEARDOWN_MS),
    moment,
    delayMs: jobs === 1 ? 0 : random.below(BURST_MS),
  }));
}

function byDemand(random: SeededRandom, tenants: readonly TraceTenant[]): TraceTenant {
  let rest = share(random) * tenants.reduce((sum, { demand }) => sum + demand, 0);
  for (const tenant of tenants) {
    if (rest < tenant.demand) return tenant;
    rest -= tenant.demand;
  }
  throw new RangeError("no tenant asks for anything");
}

/** Of the largest cluster, so that every job could be served if the fleet were empty. */
const LARGEST_PART = 0.9;
const MEDIAN_CPUS = 2;
const LARGE = 0.04;

/** Half of them up to 2 CPU; of a hundred four have a heavy tail that ends only at the largest cluster. */
function cpusOf(random: SeededRandom, most: number): number {
  const cpus = random.chance(LARGE)
    ? pareto(random, { least: 12, shape: 1.2 })
    : MEDIAN_CPUS * Math.exp(0.9 * bell(random));
  return Math.max(0.25, Math.min(most, Math.round(cpus * 4) / 4));
}

const MEDIAN_MS = 40 * MINUTE_MS;
const SHORTEST_MS = 2 * MINUTE_MS;
const LONGEST_MS = 2 * DAY_MS;
const LONG = 0.04;

/** The logarithm is bell-shaped; of a hundred four have a heavy tail of up to two days. */
function durationOf(random: SeededRandom): number {
  const durationMs = random.chance(LONG)
    ? pareto(random, { least: 4 * HOUR_MS, shape: 1.5 })
    : MEDIAN_MS * Math.exp(1.1 * bell(random));
  return Math.round(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, durationMs)));
}

/** When a part of the work of all days is done, where noon is about twice as busy as midnight. */
function byDay(part: number, lastsMs: number): number {
  let [low, high] = [0, lastsMs];
  const whole = workUntil(lastsMs);
  for (let step = 0; step < 40; step++) {
    const middle = (low + high) / 2;
    if (workUntil(middle) < part * whole) low = middle;
    else high = middle;
  }
  return low;
}

const WAVE = 0.3;

/** The integral of 1 − 0.3 cos(time of day), which is least at midnight. */
function workUntil(ms: number): number {
  const turn = (2 * Math.PI) / DAY_MS;
  return ms - (WAVE * Math.sin(turn * ms)) / turn;
}

function pareto(
  random: SeededRandom,
  { least, shape }: { readonly least: number; readonly shape: number },
): number {
  return least * (1 - share(random)) ** (-1 / shape);
}

/** Normally distributed, by the sum of twelve. */
function bell(random: SeededRandom): number {
  let sum = -6;
  for (let count = 0; count < 12; count++) sum += share(random);
  return sum;
}

function share(random: SeededRandom): number {
  return random.below(2 ** 31) / 2 ** 31;
}
