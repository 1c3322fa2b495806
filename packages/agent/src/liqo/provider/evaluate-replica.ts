import { parseTime } from "@resource-broker/base";
import type { Instant } from "@resource-broker/domain";
import type { CachedReservation } from "../../reservations/reservation-cache.ts";
import type { ResourceList, ResourceSlice } from "../objects/authentication.ts";
import { LIQO_LABEL, SLICE_CLASS } from "../objects/labels.ts";
import { type AmountProblem, amountProblem, cappedAmounts, type SliceCounting } from "./replica-amounts.ts";
import { isAccepted } from "./replica-status.ts";

/** How long a consumer may take to return resources after the end; longer than our own agents need to drain. */
export const END_GRACE_MS = 180_000;
/** A slice may arrive before the broker's event. */
export const SETTLE_MS = 10_000;
const RECHECK_MS = 1000;

/** A slice that Liqo replicated here for another cluster. */
export interface Replica {
  readonly slice: ResourceSlice;
  /**
   * The Liqo ID of the cluster whose tenant namespace holds it; undefined: not a tenant namespace. All other
   * fields about the origin could be forged by the consumer.
   */
  readonly tenant: string | undefined;
  /** False: this cluster's admin has cordoned or drained that consumer in Liqo. */
  readonly isTenantActive: boolean;
}

/** What the agent knows of the reservation with the slice's name. */
export interface ReservationView {
  readonly entry: CachedReservation | undefined;
  /** Capacity is held for it. */
  readonly isHeld: boolean;
  /** The broker was asked and knows no such reservation of this cluster. */
  readonly isUnknownToBroker: boolean;
  /** How long the reservation has been unknown. */
  readonly unknownForMs: number;
  readonly terms: SliceCounting;
}

export type RefusalReason =
  | AmountProblem["reason"]
  | "UnknownReservation"
  | "WrongRequester"
  | "RequesterNotInLiqo"
  | "ReservationExpired"
  | "ReservationEnded";

/**
 * What a refusal means for a replica that was accepted. `keep`: no change yet. `cap`: limited to these
 * resources. `deny`: nothing can run for it. `cordon`: no new pods until the case is clear. `revoke`: all pods
 * end.
 */
export type Consequence =
  | { readonly kind: "keep" | "deny" | "cordon" }
  | { readonly kind: "revoke"; readonly tenant: string }
  | { readonly kind: "cap"; readonly resources: ResourceList };

export type ReplicaVerdict =
  | { readonly kind: "grant"; readonly resources: ResourceList; readonly message: string }
  | {
      readonly kind: "refuse";
      readonly reason: RefusalReason;
      readonly message: string;
      readonly consequence: Consequence;
      readonly lookAgainMs?: number;
    }
  | { readonly kind: "leave"; readonly lookAgainMs?: number };

type Refusal = Extract<ReplicaVerdict, { kind: "refuse" }>;

const LEAVE: ReplicaVerdict = { kind: "leave" };
const LATER: ReplicaVerdict = { kind: "leave", lookAgainMs: RECHECK_MS };
const KEEP: Consequence = { kind: "keep" };

/**
 * Decides about a replica. `now` is the broker's time; undefined: it has not answered yet. Every field of the
 * replica is treated as untrusted input.
 */
export function evaluateReplica(
  replica: Replica,
  view: ReservationView,
  now: Instant | undefined,
): ReplicaVerdict {
  const { slice, tenant } = replica;
  if (slice.spec.class !== SLICE_CLASS) return LEAVE;
  // A consumer that blocks the deletion of an accepted replica also keeps its Quota.
  if (slice.metadata.deletionTimestamp !== undefined && !isAccepted(slice)) return LEAVE;
  // Liqo sets it on the consumer's side, and fails on an accepted slice without it.
  if (slice.spec.consumerClusterID === undefined) return LEAVE;
  if (tenant === undefined || !isFrom(slice, tenant)) {
    return refused("WrongRequester", "its origin does not match this namespace", { kind: "deny" });
  }
  if (!replica.isTenantActive) return LEAVE;
  return (
    evaluateOrigin(tenant, slice, view) ?? evaluateTime(tenant, view, now) ?? evaluateAmounts(slice, view)
  );
}

/** True when the origin in the replica matches its namespace. */
function isFrom({ metadata, spec }: ResourceSlice, tenant: string): boolean {
  return metadata.labels?.[LIQO_LABEL.origin] === tenant && spec.consumerClusterID === tenant;
}

function evaluateOrigin(
  tenant: string,
  slice: ResourceSlice,
  view: ReservationView,
): ReplicaVerdict | undefined {
  const { entry, isUnknownToBroker, unknownForMs } = view;
  if (entry === undefined) {
    const isNew = !isUnknownToBroker && !isAccepted(slice);
    if (isNew && unknownForMs < SETTLE_MS) return { kind: "leave", lookAgainMs: SETTLE_MS - unknownForMs };
    const consequence: Consequence = isUnknownToBroker ? { kind: "revoke", tenant } : { kind: "cordon" };
    return refused(
      "UnknownReservation",
      `this cluster has no reservation ${slice.metadata.name}: the slice must have the name of its reservation`,
      consequence,
    );
  }
  const { requester, dataPlaneIds } = entry.reservation;
  const requesterLiqoID = dataPlaneIds.requester;
  if (requesterLiqoID === tenant) return undefined;
  // An ended reservation is over for everyone, even when its requester's Liqo ID is not known any more.
  if (requesterLiqoID === undefined && entry.endedAt !== undefined) return undefined;
  if (requesterLiqoID === undefined) {
    return refused(
      "RequesterNotInLiqo",
      `the broker does not know Liqo's ID of ${requester}: its agent must run where Liqo is installed`,
      KEEP,
    );
  }
  return refused("WrongRequester", `the reservation does not belong to ${tenant}`, {
    kind: "revoke",
    tenant,
  });
}

function evaluateTime(
  tenant: string,
  { entry }: ReservationView,
  now: Instant | undefined,
): ReplicaVerdict | undefined {
  if (entry === undefined) return LEAVE;
  const { endedAt, reservation } = entry;
  if (endedAt !== undefined) {
    const leftMs = now === undefined ? END_GRACE_MS : endedAt + END_GRACE_MS - now;
    const message = `the reservation has ended: ${reservation.message}`;
    if (leftMs <= 0) return refused("ReservationEnded", message, { kind: "revoke", tenant });
    return { ...refused("ReservationEnded", message, KEEP), lookAgainMs: leftMs };
  }
  const expiresAt = parseTime(reservation.expiresAt ?? "");
  if (expiresAt === undefined) return undefined;
  if (now === undefined) return LATER;
  // Only the broker decides whether it has ended: it may have been renewed.
  if (expiresAt > now) return undefined;
  return {
    ...refused("ReservationExpired", "the reservation has expired", KEEP),
    lookAgainMs: RECHECK_MS,
  };
}

function evaluateAmounts(slice: ResourceSlice, { entry, isHeld, terms }: ReservationView): ReplicaVerdict {
  // A replica that was accepted by its writer is limited until then.
  if (entry === undefined || (!isHeld && !isAccepted(slice))) return LATER;
  const { spec, status } = slice;
  const { reservation } = entry;
  const asked = spec.resources ?? {};
  const problem = amountProblem(asked, reservation, terms);
  if (problem === undefined) {
    if (!isHeld) return LATER;
    const resources = cappedAmounts(asked, reservation, terms);
    return { kind: "grant", resources, message: `reserved for ${reservation.requester}` };
  }
  const resources = cappedAmounts(status?.resources ?? {}, reservation, terms);
  return refused(problem.reason, problem.message, { kind: "cap", resources });
}

function refused(reason: RefusalReason, message: string, consequence: Consequence): Refusal {
  return { kind: "refuse", reason, message, consequence };
}
