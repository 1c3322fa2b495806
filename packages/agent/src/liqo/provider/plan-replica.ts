import type { ResourceSlice } from "../objects/authentication.ts";
import { SLICE_CLASS } from "../objects/labels.ts";
import type { ReplicaVerdict } from "./evaluate-replica.ts";
import { isAccepted, isCordoned, isCordonedByUs, statusWith } from "./replica-status.ts";

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

export type ReplicaAction =
  | {
      readonly kind: "write-status";
      readonly status: NonNullable<ResourceSlice["status"]>;
      readonly event: "SliceGranted" | "SliceRefused";
      readonly message: string;
    }
  | {
      readonly kind: "cordon";
      readonly why: string;
      readonly event: "SliceCordoned" | "SliceFlagged";
      readonly message: string;
    }
  | { readonly kind: "uncordon" }
  | { readonly kind: "drop-quota" }
  | { readonly kind: "evict"; readonly tenant: string };

export interface ReplicaPlan {
  readonly action?: ReplicaAction;
  readonly requeueAfterMs?: number;
}

type Refusal = Extract<ReplicaVerdict, { kind: "refuse" }>;

const NOTHING: ReplicaPlan = {};
/** Liqo cordons the Quota a moment after the replica. */
const QUOTA_LOOK_MS = 2000;
const BYPASS_REASON = "NotReserved";

/** The next step for one replica, planned on its current version. */
export function planReplica(state: ReplicaState): ReplicaPlan {
  const { slice, verdict } = state;
  if (slice.metadata.deletionTimestamp !== undefined) return planTerminating(state);
  if (slice.spec.class !== SLICE_CLASS) return state.isEnforcing ? cordonBypassing(slice) : NOTHING;
  switch (verdict.kind) {
    case "leave":
      return later(verdict.lookAgainMs);
    case "grant":
      return grant(state, verdict);
    case "refuse":
      return isAccepted(slice) ? planRevocation(state, verdict) : deny(state, verdict);
  }
}

/** It is being deleted; its consumer could block that and keep running pods. */
function planTerminating(state: ReplicaState): ReplicaPlan {
  const { slice, verdict, guests } = state;
  if (slice.spec.class !== SLICE_CLASS || verdict.kind !== "refuse") return NOTHING;
  const { consequence, lookAgainMs } = verdict;
  if (consequence.kind !== "revoke" || !isAccepted(slice)) return later(lookAgainMs);
  const { tenant } = consequence;
  return cordoned(state, verdict) ?? (guests > 0 ? { action: { kind: "evict", tenant } } : NOTHING);
}

function cordonBypassing(slice: ResourceSlice): ReplicaPlan {
  if (isCordoned(slice) && isCordonedByUs(slice)) return NOTHING;
  const message = `class ${JSON.stringify(slice.spec.class ?? "")} bypasses reservations: cordoned, as --liqo-enforce asks`;
  return { action: { kind: "cordon", why: BYPASS_REASON, event: "SliceFlagged", message } };
}

function grant(
  { slice, wallMs }: ReplicaState,
  verdict: Extract<ReplicaVerdict, { kind: "grant" }>,
): ReplicaPlan {
  // A person's cordon stays.
  if (isCordonedByUs(slice)) return { action: { kind: "uncordon" } };
  const { resources, message } = verdict;
  const decision = { status: "Accepted", reason: "Reserved", message, resources } as const;
  const status = statusWith(slice, decision, wallMs);
  return status === undefined
    ? NOTHING
    : { action: { kind: "write-status", status, event: "SliceGranted", message } };
}

function deny(state: ReplicaState, { reason, message, lookAgainMs, consequence }: Refusal): ReplicaPlan {
  const { slice, wallMs, quota } = state;
  const status = statusWith(slice, { status: "Denied", reason, message, resources: {} }, wallMs);
  if (status !== undefined) {
    return {
      action: { kind: "write-status", status, event: "SliceRefused", message: `${reason}: ${message}` },
    };
  }
  // Liqo created the Quota for the consumer that the replica claims. For a denied replica it creates none.
  if (consequence.kind === "deny" && quota !== "none") return { action: { kind: "drop-quota" } };
  return later(lookAgainMs);
}

function planRevocation(state: ReplicaState, refusal: Refusal): ReplicaPlan {
  const { consequence, lookAgainMs } = refusal;
  switch (consequence.kind) {
    case "keep":
      return later(lookAgainMs);
    case "deny":
      return deny(state, refusal);
    case "cap":
      return cap(state, refusal, consequence.resources);
    case "cordon":
      return cordoned(state, refusal) ?? later(lookAgainMs);
    case "revoke":
      return cordoned(state, refusal) ?? revoke(state, refusal, consequence.tenant);
  }
}

/** A live reservation keeps what it has; more is not granted. */
function cap({ slice, wallMs }: ReplicaState, { reason, message }: Refusal, resources: Capped): ReplicaPlan {
  const status = statusWith(slice, { status: "Accepted", reason, message, resources }, wallMs);
  if (status === undefined) return NOTHING;
  return {
    action: { kind: "write-status", status, event: "SliceRefused", message: `${reason}: ${message}` },
  };
}

type Capped = NonNullable<NonNullable<ResourceSlice["status"]>["resources"]>;

function cordoned({ slice }: ReplicaState, { reason, message }: Refusal): ReplicaPlan | undefined {
  if (isCordoned(slice)) return undefined;
  return {
    action: { kind: "cordon", why: reason, event: "SliceCordoned", message: `${reason}: ${message}` },
  };
}

/**
 * Liqo reads the cordon of accepted slices only. The refusal is therefore written last, when no pod runs and
 * none can start.
 */
function revoke(state: ReplicaState, refusal: Refusal, tenant: string): ReplicaPlan {
  if (state.guests > 0) return { action: { kind: "evict", tenant } };
  return state.quota === "open" ? later(QUOTA_LOOK_MS) : deny(state, refusal);
}

function later(requeueAfterMs: number | undefined): ReplicaPlan {
  return requeueAfterMs === undefined ? NOTHING : { requeueAfterMs };
}
