import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import {
  type FleetCluster,
  FleetSimulation,
  type Job,
  type JobTrace,
  LedgerQueue,
  makeJobTrace,
  seededRandom,
  type TraceTenant,
} from "@resource-broker/testkit";

const DAY_MS = 24 * 3_600_000;
/** Longer than any fleet is watched: nobody gives up. */
const WAITS_FOR_MS = 1000 * DAY_MS;
const MOST_WAITING = 1_000_000;

/** A fleet, and what is asked of it again and again. */
export interface RandomFleet {
  readonly seed: number;
  readonly clusters: readonly FleetCluster[];
  readonly tenants: readonly TraceTenant[];
  readonly load: number;
  readonly openEnded: number;
  readonly trace: JobTrace;
}

/** Small and large clusters, one to five tenants, from quiet to overloaded; in half of them some do not say how long they last. All requests have one priority. */
export function randomFleet(seed: number, count: number): RandomFleet {
  const random = seededRandom(seed);
  const clusters = numbered(random.between(3, 10), (at) => {
    const cpus = random.pick([4, 8, 16, 32, 64]) ?? 16;
    return { clusterId: `cluster-${at}`, cpus, memoryGi: cpus * (random.pick([2, 4, 8]) ?? 4) };
  });
  const tenants = numbered(random.between(1, 5), (at) => ({
    name: `tenant-${at}`,
    weight: random.between(1, 4),
    demand: random.between(1, 4),
  }));
  const load = random.between(60, 110) / 100;
  const openEnded = random.chance(0.5) ? random.between(1, 50) / 100 : 0;
  // Of one priority: who has a lower one waits for as long as more of a higher one come.
  const asked = { clusters, tenants, load, openEnded, urgent: 0 };
  const trace = makeJobTrace({ random: random.fork(1), count, ...asked });
  return { seed, clusters, tenants, load, openEnded, trace };
}

export interface Starved {
  readonly job: Job;
  readonly waitedHours: number;
}

export interface FleetResult {
  readonly starved: readonly Starved[];
  /** Faults of the queue: a promised start that was not kept, or room that nobody got. */
  readonly faults: readonly string[];
  readonly served: number;
  readonly promises: number;
  readonly gaveWay: number;
  readonly longestWaitHours: number;
  readonly days: number;
}

/**
 * The trace is played until all of its requests are served; those of its repetitions only keep the fleet busy. Whoever of the
 * first round still waits after so many days has starved.
 */
export function runFleet({ clusters, tenants, trace }: RandomFleet, patienceDays: number): FleetResult {
  const jobs = new Map(trace.jobs.map((job) => [job.id, job]));
  const fleet = new FleetSimulation({ clusters, policy: policyFor(tenants, clusters), jobs });
  const queue = new LedgerQueue(fleet, { waitForMs: WAITS_FOR_MS });
  const watched = new Map(jobs);
  const waits: number[] = [];
  fleet.onGranted = ({ id }) => {
    const job = watched.get(id);
    if (job !== undefined) waits.push(fleet.elapsedMs - job.atMs);
    watched.delete(id);
  };
  const begin = (round: number): void => {
    for (const job of trace.jobs) {
      const one = round === 0 ? job : { ...job, id: `${job.id}-${round}` };
      jobs.set(one.id, one);
      fleet.after(job.atMs, () => queue.arrive(one));
    }
    fleet.after(trace.lastsMs, () => begin(round + 1));
  };
  begin(0);
  fleet.run(() => watched.size === 0 || fleet.elapsedMs > patienceDays * DAY_MS);
  const hours = (ms: number): number => ms / 3_600_000;
  const starved = [...watched.values()].map((job) => ({
    job,
    waitedHours: hours(fleet.elapsedMs - job.atMs),
  }));
  return {
    starved,
    faults: faultsOf(queue),
    served: waits.length,
    promises: queue.promises.made,
    gaveWay: queue.promises.gaveWay.length,
    longestWaitHours: hours(waits.reduce((most, wait) => Math.max(most, wait), 0)),
    days: hours(fleet.elapsedMs) / 24,
  };
}

function faultsOf({ promises, idleWaits, refused }: LedgerQueue): string[] {
  return [
    ...promises.late.map(
      ({ id, promised, started }) =>
        `${id} was first and to start by ${promised}, and started ${started === undefined ? "never" : `at ${started}`}`,
    ),
    ...idleWaits.map(({ id, provider, at }) => `${id} waited at ${at} while ${provider} had room`),
    ...refused.map((id) => `${id} was not let wait`),
  ];
}

function policyFor(tenants: readonly TraceTenant[], clusters: readonly FleetCluster[]): Policy {
  const queue = { max: MOST_WAITING, maxPerTenant: MOST_WAITING, maxWaitMs: WAITS_FOR_MS };
  const membersOf = (name: string) =>
    clusters.map(({ clusterId }) => ({ cluster: clusterId, namespaces: [name] }));
  return {
    ...DEFAULT_POLICY,
    defaultQuota: {},
    queue: { ...DEFAULT_POLICY.queue, ...queue },
    tenants: Object.fromEntries(
      tenants.map(({ name, weight }) => [name, { weight, quota: {}, members: membersOf(name) }]),
    ),
  };
}

function numbered<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

/** What a fleet is, in one line. */
export function fleetText({ seed, clusters, tenants, load, openEnded }: RandomFleet): string {
  const sizes = clusters.map(({ cpus }) => cpus).sort((a, b) => b - a);
  const weights = tenants.map(({ name, weight, demand }) => `${name} weight ${weight} demand ${demand}`);
  return `fleet ${seed} (${sizes.join(" ")} CPU; ${weights.join(", ")}; load ${load}, ${Math.round(100 * openEnded)} % open-ended)`;
}
