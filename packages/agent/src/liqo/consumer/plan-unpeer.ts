import type { ForeignCluster } from "../objects/foreign-cluster.ts";
import type { JobState } from "./peering-jobs.ts";
import { isPeered } from "./foreign-cluster-state.ts";
import type { PeeringMarker } from "./peering-marker.ts";

/** What is known of the peering that a reservation needed. */
export interface PeeringRemains {
  readonly marker: PeeringMarker;
  /** Slices towards the provider, whoever made them; unpeering would delete them all. */
  readonly slices: number;
  readonly foreignCluster: ForeignCluster | undefined;
  readonly job: JobState;
}

export type UnpeerStep =
  | { readonly kind: "clean" }
  | { readonly kind: "wait"; readonly reason: string; readonly message: string; readonly isTrouble?: boolean }
  /** Others need it, or it is gone: this reservation lets go of it. */
  | { readonly kind: "unclaim" | "close" | "abort-peer"; readonly marker: PeeringMarker }
  /** From here on nobody else may begin to use it. */
  | { readonly kind: "begin-unpeer"; readonly marker: PeeringMarker }
  | { readonly kind: "unpeer"; readonly isForced: boolean; readonly marker: PeeringMarker };

/** Objects may lag behind what liqoctl has done. */
const SETTLE_MS = 60_000;

/** The last reservation of a pair ends the peering, if this agent made it. */
export function planUnpeer(id: string, peering: PeeringRemains | undefined): UnpeerStep {
  if (peering === undefined) return { kind: "clean" };
  const { marker, slices, job } = peering;
  const isWanted = slices > 0 || marker.claims.some((claim) => claim !== id);
  if (isWanted && !marker.isEnding) return { kind: "unclaim", marker };
  if (job.kind === "running") return planRunning(marker, job);
  if (!marker.isBegun) return { kind: "unclaim", marker };
  if (!marker.isEnding) return { kind: "begin-unpeer", marker };
  return isOver(peering) ? { kind: "close", marker } : planJob(marker, job);
}

/** Before liqoctl was run, there may be half a peering: a network without credentials. */
function isOver({ job, foreignCluster }: PeeringRemains): boolean {
  if (isPeered(foreignCluster)) return false;
  const { role, modules } = foreignCluster?.status ?? {};
  const hasNetwork = role !== "Consumer" && modules?.networking.enabled === true;
  return !hasNetwork || (job.kind === "done" && job.job !== "peer");
}

function planRunning(marker: PeeringMarker, job: Extract<JobState, { kind: "running" }>): UnpeerStep {
  if (job.job === "peer") return { kind: "abort-peer", marker };
  const how = job.job === "unpeer" ? "unpeers from" : "gives up the peering with";
  return { kind: "wait", reason: "Unpeering", message: `liqoctl ${how} ${marker.clusterId}` };
}

function planJob(marker: PeeringMarker, job: JobState): UnpeerStep {
  if (job.kind === "none" || job.job === "peer") return { kind: "unpeer", isForced: false, marker };
  if (job.kind === "done" && job.forMs < SETTLE_MS) {
    const message = `liqoctl has ended; Liqo still says that ${marker.clusterId} is peered`;
    return { kind: "wait", reason: "AwaitingUnpeering", message };
  }
  // One try is fair; then the provider is taken for gone.
  if (job.job === "unpeer") return { kind: "unpeer", isForced: true, marker };
  if (job.kind === "failed" && job.retryInMs > 0) {
    const { reason, message } = job.obstacle;
    return { kind: "wait", reason, message: `${message}; it is tried again`, isTrouble: true };
  }
  return { kind: "unpeer", isForced: true, marker };
}
