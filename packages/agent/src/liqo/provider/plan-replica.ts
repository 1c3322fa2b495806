import { formatTime } from "@resource-broker/base";
import { conditionMessage } from "@resource-broker/contract/crd";
import type { ObjectName, ReconcileResult } from "@resource-broker/kube";
import {
  isSameList,
  LIQO_ANNOTATION,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  SLICE_CLASS,
} from "../objects.ts";
import { patch, remove, updateStatus, type Write } from "../writes.ts";
import { isAccepted, type Refusal, type ReplicaVerdict, resourcesCondition } from "./evaluate-replica.ts";
import { creatorUserOf } from "./liqo-informers.ts";

/** State of Liqo's Quota of a slice. `none`: there is no Quota, or it does not matter. */
export type QuotaState = "none" | "open" | "cordoned";

export interface ReplicaState {
  readonly slice: ResourceSlice;
  readonly verdict: ReplicaVerdict;
  /** `--liqo-enforce`: slices that bypass reservations are cordoned. */
  readonly isEnforcing: boolean;
  /** Number of guest pods. */
  readonly guests: number;
  readonly quota: QuotaState;
  /** Wall clock, for times in the status. */
  readonly wallMs: number;
}

export interface SliceEvent {
  readonly reason: "SliceGranted" | "SliceRefused" | "SliceCordoned" | "SliceFlagged" | "GuestsRemoved";
  readonly message: string;
}

/** A write with its event, the eviction of the guest pods, or the time until the next look. */
export interface ReplicaPlan extends ReconcileResult {
  readonly write?: Write;
  readonly event?: SliceEvent;
  readonly evict?: true;
}

/** On a replica: this agent cordoned it, with the reason; absent on a person's cordon. */
const CORDONED_ANNOTATION = "rear.fluidos.eu/cordoned";
const NOTHING: ReplicaPlan = {};
/** Liqo cordons the Quota a moment after the replica. */
const QUOTA_LOOK_MS = 2000;

/** The next step for one replica, planned on its current version. */
export function planReplica(state: ReplicaState): ReplicaPlan {
  const { slice, verdict } = state;
  const isTerminating = slice.metadata.deletionTimestamp !== undefined;
  if (slice.spec.class !== SLICE_CLASS) {
    return state.isEnforcing && !isTerminating ? cordonBypassing(slice) : NOTHING;
  }
  if (verdict.kind === "leave") return isTerminating ? NOTHING : later(verdict.lookAgainMs);
  if (verdict.kind === "grant") return isTerminating ? NOTHING : grant(state, verdict);
  if (isTerminating) return planTerminating(state, verdict);
  return isAccepted(slice) ? planRevocation(state, verdict) : deny(state, verdict);
}

/** It is being deleted; its consumer could block that and keep running pods. */
function planTerminating({ slice, guests }: ReplicaState, refusal: Refusal): ReplicaPlan {
  if (refusal.kind !== "revoke" || !isAccepted(slice)) return later(refusal.lookAgainMs);
  return cordonRefused(slice, refusal) ?? (guests > 0 ? { evict: true } : NOTHING);
}

function cordonBypassing(slice: ResourceSlice): ReplicaPlan {
  if (isCordoned(slice) && isCordonedByUs(slice)) return NOTHING;
  const message = `class ${JSON.stringify(slice.spec.class ?? "")} bypasses reservations: cordoned, as --liqo-enforce asks`;
  return { write: cordon(slice, "NotReserved"), event: { reason: "SliceFlagged", message } };
}

function grant(
  { slice, wallMs }: ReplicaState,
  { resources, message }: Extract<ReplicaVerdict, { kind: "grant" }>,
): ReplicaPlan {
  // A person's cordon stays.
  if (isCordonedByUs(slice)) {
    return { write: annotate(slice, { [LIQO_ANNOTATION.cordon]: null, [CORDONED_ANNOTATION]: null }) };
  }
  const decision = { status: "Accepted", reason: "Reserved", message, resources } as const;
  const write = statusWrite(slice, decision, wallMs);
  return write ? { write, event: { reason: "SliceGranted", message } } : NOTHING;
}

function deny({ slice, wallMs, quota }: ReplicaState, refusal: Refusal): ReplicaPlan {
  const { kind, reason, message, lookAgainMs } = refusal;
  const write = statusWrite(slice, { status: "Denied", reason, message, resources: {} }, wallMs);
  if (write !== undefined) return { write, event: refusalEvent("SliceRefused", refusal) };
  // Liqo created the Quota for the consumer that the replica claims. For a denied replica it creates none.
  if (kind === "deny" && quota !== "none") {
    return { write: remove(QUOTAS, { metadata: quotaName(slice) }) };
  }
  return later(lookAgainMs);
}

function planRevocation(state: ReplicaState, refusal: Refusal): ReplicaPlan {
  switch (refusal.kind) {
    case "keep":
      return later(refusal.lookAgainMs);
    case "deny":
      return deny(state, refusal);
    case "cap":
      return cap(state, refusal);
    case "cordon":
      return cordonRefused(state.slice, refusal) ?? later(refusal.lookAgainMs);
    case "revoke":
      return cordonRefused(state.slice, refusal) ?? revoke(state, refusal);
  }
}

/** A live reservation keeps what it has; more is not granted. */
function cap({ slice, wallMs }: ReplicaState, refusal: Refusal): ReplicaPlan {
  const { reason, message, resources = {} } = refusal;
  const write = statusWrite(slice, { status: "Accepted", reason, message, resources }, wallMs);
  return write ? { write, event: refusalEvent("SliceRefused", refusal) } : NOTHING;
}

function cordonRefused(slice: ResourceSlice, refusal: Refusal): ReplicaPlan | undefined {
  if (isCordoned(slice)) return undefined;
  return { write: cordon(slice, refusal.reason), event: refusalEvent("SliceCordoned", refusal) };
}

/**
 * Liqo reads the cordon of accepted slices only. The refusal is therefore written last, when no pod runs and
 * none can start.
 */
function revoke(state: ReplicaState, refusal: Refusal): ReplicaPlan {
  if (state.guests > 0) return { evict: true };
  return state.quota === "open" ? later(QUOTA_LOOK_MS) : deny(state, refusal);
}

function later(requeueAfterMs: number | undefined): ReplicaPlan {
  return requeueAfterMs === undefined ? NOTHING : { requeueAfterMs };
}

function refusalEvent(reason: SliceEvent["reason"], refusal: Refusal): SliceEvent {
  return { reason, message: `${refusal.reason}: ${refusal.message}` };
}

function cordon(slice: ResourceSlice, why: string): Write {
  return annotate(slice, { [LIQO_ANNOTATION.cordon]: "true", [CORDONED_ANNOTATION]: why });
}

/** Fails with `conflict` when the version has changed. */
function annotate(slice: ResourceSlice, annotations: Readonly<Record<string, string | null>>): Write {
  const { resourceVersion } = slice.metadata;
  const metadata = { annotations, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
  return patch(RESOURCE_SLICES, slice, { metadata });
}

/** As Liqo reads the annotation: everything but false. */
function isCordoned({ metadata }: ResourceSlice): boolean {
  return !["false", "False", "0"].includes(metadata.annotations?.[LIQO_ANNOTATION.cordon] ?? "false");
}

function isCordonedByUs({ metadata }: ResourceSlice): boolean {
  return metadata.annotations?.[CORDONED_ANNOTATION] !== undefined;
}

/** The Quota's name: the user of the consumer that the replica claims. */
export function quotaName({ metadata, spec }: ResourceSlice): ObjectName {
  const { name, namespace = "" } = metadata;
  return { name: creatorUserOf(name, spec.consumerClusterID ?? ""), namespace };
}

/** The agent's decision about a replica's resources. */
interface ResourcesDecision {
  readonly status: "Accepted" | "Denied";
  readonly reason: string;
  readonly message: string;
  readonly resources: ResourceList;
}

const DECIDED = ["status", "reason", "message"] as const;

/** The write of this decision; undefined: it is set. Liqo's other conditions stay. */
export function statusWrite(
  slice: ResourceSlice,
  { resources, ...asked }: ResourcesDecision,
  wallMs: number,
): Write | undefined {
  const decision = { ...asked, message: conditionMessage(asked.message) };
  const { status: current = {} } = slice;
  const before = resourcesCondition(slice);
  const isSame = DECIDED.every((field) => before?.[field] === decision[field]);
  if (isSame && isSameList(resources, current.resources ?? {})) return undefined;
  const since = before?.status === decision.status ? before.lastTransitionTime : undefined;
  const condition = {
    type: "Resources",
    ...decision,
    lastTransitionTime: since ?? formatTime(wallMs),
  } as const;
  const others = (current.conditions ?? []).filter(({ type }) => type !== "Resources");
  const status = { ...current, conditions: [...others, condition], resources };
  return updateStatus(RESOURCE_SLICES, { ...slice, status });
}
