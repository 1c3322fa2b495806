import type { Clock, Log } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import type { DataPlaneState, DeliverySpec, RequesterDataPlane } from "../../data-plane/data-plane.ts";
import { ignoring, isFault } from "../../faults.ts";
import { isVirtual, RESERVATION_LABEL, type ReservationPod } from "../objects.ts";
import { perform } from "../writes.ts";
import { type DesiredVirtualNode, readDesired } from "./desired-virtual-node.ts";
import { type ClusterReads, clusterReads, observer } from "./observe.ts";
import { peeringJobRunner } from "./peering-job-runner.ts";
import type { peeringJobs } from "./peering-jobs.ts";
import { isWarmClaim, type PeeringMarkers, peeringMarkers } from "./peering-marker.ts";
import { type ObservedVirtualNode, planEstablish, planRefresh } from "./plan-establish.ts";
import { claimantsOf } from "./plan-offload.ts";
import { planTeardown, type TeardownStage } from "./plan-teardown.ts";
import {
  type JobCommand,
  type Pair,
  type Step,
  stalled,
  stateAfter,
  stateAfterFault,
  wait,
} from "./steps.ts";

/** The jobs of one way to peer. */
type PeeringJobs = ReturnType<typeof peeringJobs>;

export interface LiqoOptions {
  readonly liqoNamespace: string;
  /** The extended resource name that reserved GPUs are requested by. */
  readonly gpuResource: string;
}

export interface LiqoDeps {
  readonly client: Pick<KubeClient, "find" | "list" | "create" | "update" | "patch" | "delete">;
  readonly clock: Clock;
  readonly log: Log;
  readonly createJobs: (parts: {
    readonly reads: ClusterReads;
    readonly markers: PeeringMarkers;
  }) => PeeringJobs;
  /** What the jobs are, for people. Absent: liqoctl. */
  readonly what?: "liqoctl" | "relay peering";
  /** The claim that keeps the peering with this cluster warm. */
  readonly warmClaim?: (pair: Pair) => string | undefined;
}

/** Delivers each reservation as a virtual node of exactly its size, and removes it in time. */
export interface LiqoRequester extends RequesterDataPlane {
  /** Stops running jobs; a restarted agent continues from the markers. */
  readonly stop: () => Promise<void>;
}

/** Each call observes, plans one step and takes it. Only jobs and the waiting times of teardowns are kept. */
export function liqoRequester(options: LiqoOptions, deps: LiqoDeps): LiqoRequester {
  const { client, clock, log } = deps;
  const reads = clusterReads(client);
  const markers = peeringMarkers(client, options.liqoNamespace);
  const runner = peeringJobRunner(deps);
  const jobs = deps.createJobs({ reads, markers });
  const observe = observer({ reads, markers, runner, jobs, clock, warmClaim: deps.warmClaim });
  const stageWaits = stageWaitTimes(clock);
  const stepWaits = stepWaitTimes(clock);
  const stateOf = (id: string, step: Step) => stateAfter(step, stepWaits.waitedMs(id, step.reason));

  const command = ({ kind, pair }: JobCommand): void => {
    if (kind === "abort") runner.abort(pair.liqoId);
    else if (kind === "forget") runner.forget(pair.liqoId);
    else runner.start(pair.liqoId, jobs.create(kind, pair));
  };
  const take = async (step: Step): Promise<Step> => {
    try {
      for (const write of step.writes ?? []) await perform(client, write);
    } catch (error) {
      if (step.ifMissing === undefined || !isFault(error, "not-found")) throw error;
      return stalled(step.ifMissing.reason, step.ifMissing.message);
    }
    if (step.job !== undefined) command(step.job);
    return step;
  };

  const deliver = async (
    spec: DeliverySpec,
    toTaken: (step: Step) => Promise<Step>,
    refresh: (desired: DesiredVirtualNode, observed: ObservedVirtualNode) => Promise<void>,
  ): Promise<DataPlaneState> => {
    const reading = readDesired(spec, options.gpuResource);
    if (!reading.ok) return stateAfter(stalled(reading.obstacle.reason, reading.obstacle.message));
    try {
      const observed = await observe.virtualNode(reading.desired);
      await refresh(reading.desired, observed);
      const step = planEstablish(reading.desired, observed);
      if (step.kind !== "ready") return stateOf(reading.desired.id, await toTaken(step));
      stepWaits.forget(reading.desired.id);
      return { ...step, reason: "NodeReady" };
    } catch (error) {
      return stateAfterFault(error);
    }
  };

  return {
    establish: (spec) =>
      deliver(spec, take, async (desired, observed) => {
        for (const write of planRefresh(desired, observed))
          await perform(client, write).catch(ignoring("not-found"));
      }),
    observe: (spec) => {
      const message = `the virtual node of ${spec.reservation.provider} does not exist`;
      const seen = async (step: Step) => (step.kind === "wait" ? step : wait("NotEstablished", message));
      return deliver(spec, seen, async () => undefined);
    },
    release: async (id) => {
      try {
        const objects = await observe.objectsOf(id);
        const step = planTeardown({ ...objects, waitedMs: (stage) => stageWaits.waitedMs(id, stage) });
        if (step === undefined) {
          stageWaits.forget(id);
          stepWaits.forget(id);
          return { kind: "clean" };
        }
        if (step.kind === "act" && step.isStalled === true) log.warn({ reservation: id }, step.message);
        return stateOf(id, await take(step));
      } catch (error) {
        return stateAfterFault(error);
      }
    },
    listPods: async (id) => {
      const node = await reads.node(id);
      const pods = node !== undefined && isVirtual(node) ? await reads.podsOn(id) : [];
      return pods.filter(isRunning).map(({ metadata }) => ({ apiVersion: "v1", kind: "Pod", metadata }));
    },
    listReservationIds: async () => {
      const [slices, offloadings, all] = await Promise.all([
        reads.labelledSlices(),
        reads.offloadings(),
        markers.all(),
      ]);
      const ids = [
        ...slices.map(({ metadata }) => metadata.labels?.[RESERVATION_LABEL] ?? metadata.name),
        ...offloadings.flatMap(claimantsOf),
        ...all.flatMap(({ claims }) => claims.filter((claim) => !isWarmClaim(claim))),
      ];
      return [...new Set(ids)].sort();
    },
    stop: runner.stop,
  };
}

function isRunning({ status }: ReservationPod): boolean {
  return status?.phase !== "Succeeded" && status?.phase !== "Failed";
}

/** A stage that was not checked for this long starts again: the API server was away, or the reservation was live again. */
const STALE_WAIT_MS = 60_000;

/** How long each teardown has been at each stage. */
function stageWaitTimes(clock: Pick<Clock, "monotonicMs">) {
  const begun = new Map<string, Map<TeardownStage, { readonly since: number; readonly seen: number }>>();
  const waitedMs = (id: string, stage: TeardownStage): number => {
    const stages = begun.get(id) ?? new Map<TeardownStage, { since: number; seen: number }>();
    begun.set(id, stages);
    const now = clock.monotonicMs();
    const { since, seen } = stages.get(stage) ?? { since: now, seen: now };
    const isStale = now - seen > STALE_WAIT_MS;
    stages.set(stage, { since: isStale ? now : since, seen: now });
    return isStale ? 0 : now - since;
  };
  return { waitedMs, forget: (id: string): void => void begun.delete(id) };
}

/** How long the next step of each delivery or teardown has been the same. */
function stepWaitTimes(clock: Pick<Clock, "monotonicMs">) {
  const steps = new Map<string, { readonly reason: string; readonly since: number }>();
  const waitedMs = (id: string, reason: string): number => {
    const now = clock.monotonicMs();
    const before = steps.get(id);
    const since = before?.reason === reason ? before.since : now;
    steps.set(id, { reason, since });
    return now - since;
  };
  return { waitedMs, forget: (id: string): void => void steps.delete(id) };
}
