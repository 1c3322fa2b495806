import type { ForeignCluster } from "../objects/core.ts";
import { tenantNamespaceOf } from "../objects/labels.ts";
import {
  isConsumer,
  isPeered,
  isProvider,
  UNREACHABLE_MS,
  unreachableForMs,
} from "./foreign-cluster-state.ts";
import type { JobState } from "./peering-job-runner.ts";
import type { PeeringMarker } from "./peering-store.ts";

/** The peering of a reservation. */
export interface PeeringState {
  readonly marker: PeeringMarker;
  /** Number of slices towards the provider, whoever created them; unpeering would delete all of them. */
  readonly slices: number;
  /** Number of slices of the other direction: the provider is a consumer here. */
  readonly slicesFrom: number;
  readonly foreignCluster: ForeignCluster | undefined;
  readonly job: JobState;
  /** Wall clock, compared with times in Kubernetes objects. */
  readonly wallMs: number;
}

export type UnpeerStep =
  | { readonly kind: "clean" }
  | { readonly kind: "wait"; readonly reason: string; readonly message: string; readonly isStalled?: boolean }
  /** Other reservations need the peering, or it is gone: this reservation drops its claim. */
  | { readonly kind: "unclaim" | "close" | "abort-peer"; readonly marker: PeeringMarker }
  /** From here on no other reservation may start to use it. */
  | { readonly kind: "begin-unpeer"; readonly marker: PeeringMarker }
  | { readonly kind: "unpeer"; readonly isForced: boolean; readonly marker: PeeringMarker };

/** Objects may be updated some time after liqoctl has ended. */
const SETTLE_MS = 60_000;
/**
 * What the provider keeps of a peering that is gone here, such as its Tenant, must not block the end forever.
 * With the backoff between them, these tries take about an hour, like the time before a forced end.
 */
const MAX_TRIES = 14;

/** The last reservation of a pair ends the peering, if this agent made it. */
export function planUnpeer(id: string, peering: PeeringState | undefined): UnpeerStep {
  if (peering === undefined) return { kind: "clean" };
  const { marker, job, foreignCluster } = peering;
  const isWanted = isInUse(peering, id);
  if (isWanted && !marker.isEnding) return { kind: "unclaim", marker };
  if (job.kind === "running") return planRunning(marker, job);
  const isKept = !marker.isBegun || (isWanted && isPeered(foreignCluster));
  if (isKept) return { kind: "unclaim", marker };
  if (!marker.isEnding) return { kind: "begin-unpeer", marker };
  return isOver(peering) ? { kind: "close", marker } : planJob(peering);
}

function isInUse({ slices, marker }: PeeringState, id: string): boolean {
  return slices > 0 || marker.claims.some((claim) => claim !== id);
}

/** The absence of local objects does not prove that the provider has ended the peering. */
function isOver({ job, foreignCluster }: PeeringState): boolean {
  if (isProvider(foreignCluster) || job.kind === "none" || job.job === "peer") return false;
  return job.kind === "done" || (job.kind === "failed" && job.times >= MAX_TRIES);
}

function planRunning(marker: PeeringMarker, job: Extract<JobState, { kind: "running" }>): UnpeerStep {
  if (job.job === "peer") return { kind: "abort-peer", marker };
  const how = job.job === "unpeer" ? "unpeers from" : "forces the end of the peering with";
  return { kind: "wait", reason: "Unpeering", message: `liqoctl ${how} ${marker.clusterId}` };
}

function planJob(peering: PeeringState): UnpeerStep {
  const { marker, job } = peering;
  if (job.kind === "done" && job.job !== "peer" && job.forMs < SETTLE_MS) {
    const message = `liqoctl has ended; Liqo still says that ${marker.clusterId} is peered`;
    return { kind: "wait", reason: "AwaitingUnpeering", message };
  }
  if (job.kind !== "failed" || job.job === "peer") return { kind: "unpeer", isForced: false, marker };
  const force = planForce(peering, job);
  if (force !== undefined) return force;
  if (job.retryInMs === 0) return { kind: "unpeer", isForced: false, marker };
  const { reason, message } = job.obstacle;
  return { kind: "wait", reason, message: `${message}; the agent tries again`, isStalled: true };
}

/** `liqoctl force unpeer` deletes the pair's whole namespace, including what the provider uses here. */
function planForce(
  peering: PeeringState,
  job: Extract<JobState, { kind: "failed" }>,
): UnpeerStep | undefined {
  const { marker, foreignCluster, wallMs, slicesFrom } = peering;
  if (unreachableForMs(foreignCluster, wallMs) < UNREACHABLE_MS) return undefined;
  if (slicesFrom === 0 && !isConsumer(foreignCluster)) {
    const isPaused = job.job === "force-unpeer" && job.retryInMs > 0;
    return isPaused ? undefined : { kind: "unpeer", isForced: true, marker };
  }
  const { clusterId, liqoId } = marker;
  const what = `${clusterId} has not answered for an hour, and its peering is not ended by force: it is a consumer here too, and force would delete its slices`;
  const remedy = `if it is gone for good, end its reservations, then delete Tenant ${liqoId} in ${tenantNamespaceOf(liqoId)}`;
  return { kind: "wait", reason: "ForceRefused", message: `${what}; ${remedy}`, isStalled: true };
}
