import { DEFAULT_POLICY, type Policy } from "@resource-broker/domain";
import {
  type FleetCluster,
  FleetSimulation,
  type Job,
  type JobTrace,
  type LateStart,
  LedgerQueue,
  type SeededRandom,
  type TraceTenant,
} from "@resource-broker/testkit";
import { FirstCome } from "./first-come.ts";
import { Retrying } from "./retrying.ts";

export const WAITS_FOR_MS = 24 * 3_600_000;

/** How requests that find no room come to it. */
export const WAYS = ["asking again", "first come", "the queue"] as const;
export type Way = (typeof WAYS)[number];

/** What became of a job. */
export interface JobOutcome {
  /** From the beginning of the trace. Absent: never. */
  readonly startedAtMs?: number;
  readonly provider?: string;
}

/** What the ledger's queue says of itself. */
export interface QueueRun {
  /** Requests that were told when they start, as they became first. */
  readonly promises: number;
  readonly late: readonly LateStart[];
  readonly gaveWay: readonly LateStart[];
  /** Somebody waited though a provider had room that it kept for nobody. */
  readonly idleWaits: readonly string[];
  readonly mostWaiting: number;
  readonly lookMs: readonly number[];
}

export interface Replay {
  readonly way: Way;
  /** In the order of the jobs. */
  readonly outcomes: readonly JobOutcome[];
  readonly calls: number;
  /** Durable events about who gets what: grants, refusals, entries and exits of the queue. */
  readonly written: number;
  readonly queue?: QueueRun;
}

export interface ReplayOptions {
  readonly trace: JobTrace;
  readonly clusters: readonly FleetCluster[];
  readonly tenants: readonly TraceTenant[];
  readonly random: SeededRandom;
  readonly clock: () => number;
}

const ABOUT_WAITING = ["granted", "refused", "queued", "unqueued", "nominated", "nomination-lapsed"];

export function replay(way: Way, options: ReplayOptions): Replay {
  const { jobs } = options.trace;
  const fleet = new FleetSimulation({
    clusters: options.clusters,
    policy: policyFor(options),
    jobs: new Map(jobs.map((job) => [job.id, job])),
  });
  const started = new Map<string, JobOutcome>();
  fleet.onGranted = ({ id, provider }) => started.set(id, { startedAtMs: fleet.elapsedMs, provider });
  const { arrive, isOver, ...rest } = waysOf(fleet, options)[way]();
  let arrived = 0;
  for (const job of jobs) {
    fleet.after(job.atMs, () => {
      arrived++;
      arrive(job);
    });
  }
  fleet.run(() => arrived === jobs.length && isOver());
  const written = ABOUT_WAITING.reduce((sum, kind) => sum + (fleet.written.get(kind) ?? 0), 0);
  const { calls = jobs.length, refusals = 0, queue } = rest.told?.() ?? {};
  return {
    way,
    outcomes: jobs.map(({ id }) => started.get(id) ?? {}),
    calls,
    written: written + refusals,
    ...(queue === undefined ? {} : { queue }),
  };
}

interface Waiting {
  readonly arrive: (job: Job) => void;
  /** True: nobody waits any more. */
  readonly isOver: () => boolean;
  readonly told?: () => { readonly calls?: number; readonly refusals?: number; readonly queue?: QueueRun };
}

function waysOf(
  fleet: FleetSimulation,
  { random, clock }: ReplayOptions,
): Readonly<Record<Way, () => Waiting>> {
  return {
    "asking again": () => {
      const retrying = new Retrying(fleet, { random, givesUpAfterMs: WAITS_FOR_MS });
      return {
        arrive: (job) => retrying.arrive(job),
        isOver: () => retrying.waiting === 0,
        told: () => ({ calls: retrying.calls, refusals: retrying.recordedRefusals }),
      };
    },
    "first come": () => {
      const line = new FirstCome(fleet, WAITS_FOR_MS);
      return { arrive: (job) => line.arrive(job), isOver: () => line.waiting === 0 };
    },
    "the queue": () => {
      const queue = new LedgerQueue(fleet, { waitForMs: WAITS_FOR_MS, clock });
      return {
        arrive: (job) => queue.arrive(job),
        isOver: () => fleet.ledger.waiting.pendingCount === 0,
        told: () => ({ queue: queueRun(queue) }),
      };
    },
  };
}

function queueRun({ promises, idleWaits, mostWaiting, lookMs }: LedgerQueue): QueueRun {
  const { made, late, gaveWay } = promises;
  return {
    promises: made,
    late,
    gaveWay,
    idleWaits: idleWaits.map(({ id, provider }) => `${id} waited while ${provider} had room`),
    mostWaiting,
    lookMs,
  };
}

/** The default policy, but for the tenants, and for how many may wait: a trace is not turned away. */
function policyFor({ trace, tenants, clusters }: ReplayOptions): Policy {
  const { queue } = DEFAULT_POLICY;
  const count = trace.jobs.length;
  const membersOf = (name: string) =>
    clusters.map(({ clusterId }) => ({ cluster: clusterId, namespaces: [name] }));
  return {
    ...DEFAULT_POLICY,
    defaultQuota: {},
    queue: { ...queue, max: count, maxPerTenant: count, maxWaitMs: WAITS_FOR_MS },
    tenants: Object.fromEntries(
      tenants.map(({ name, weight }) => [name, { weight, quota: {}, members: membersOf(name) }]),
    ),
  };
}
