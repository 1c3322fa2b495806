import type { CountedResources } from "@resource-broker/accounting";
import { parseTime } from "@resource-broker/base";
import type { Instant } from "@resource-broker/domain";
import type { CachedReservation } from "../../reservations/reservation-cache.ts";
import {
  LIQO_LABEL,
  type ResourceList,
  type ResourceSlice,
  type ResourceSliceCondition,
  SLICE_CLASS,
} from "../objects.ts";
import { amountProblem, cappedAmounts } from "./replica-amounts.ts";

/** How long a consumer may take to return resources after the end; longer than our own agents need to drain. */
export const END_GRACE_MS = 180_000;
/** A slice may arrive before the broker's event. */
export const SETTLE_MS = 10_000;
const RECHECK_MS = 1000;

/** The owner of the namespace that holds a replica. */
export interface Tenancy {
  /**
   * The Liqo ID of the cluster; undefined: not a tenant namespace. All other fields about the origin could be
   * forged by the consumer.
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
  readonly counted: CountedResources;
  /** The broker's time; undefined: it has not answered yet. */
  readonly now: Instant | undefined;
}

/** Nothing is granted, for this reason. */
export interface Refusal {
  /**
   * What follows for a replica that was accepted. `keep`: no change yet. `cap`: limited to `resources`. `deny`:
   * nothing can run for it. `cordon`: no new pods until the case is clear. `revoke`: all pods end.
   */
  readonly kind: "keep" | "cap" | "deny" | "cordon" | "revoke";
  readonly reason: string;
  readonly message: string;
  readonly resources?: ResourceList;
  readonly lookAgainMs?: number;
}

export type ReplicaVerdict =
  | { readonly kind: "grant"; readonly resources: ResourceList; readonly message: string }
  | { readonly kind: "leave"; readonly lookAgainMs?: number }
  | Refusal;

const LEAVE: ReplicaVerdict = { kind: "leave" };
const LATER: ReplicaVerdict = { kind: "leave", lookAgainMs: RECHECK_MS };

/** Decides about a slice that Liqo replicated here for another cluster. Every field of it is untrusted input. */
export function evaluateReplica(
  slice: ResourceSlice,
  { tenant, isTenantActive }: Tenancy,
  view: ReservationView,
): ReplicaVerdict {
  if (isNotOurs(slice)) return LEAVE;
  if (tenant === undefined || !isFrom(slice, tenant)) {
    return { kind: "deny", reason: "WrongRequester", message: "its origin does not match this namespace" };
  }
  if (!isTenantActive) return LEAVE;
  const { entry } = view;
  if (entry === undefined) return evaluateUnknown(slice, view);
  return (
    requesterProblem(tenant, entry) ?? timeProblem(entry, view.now) ?? evaluateAmounts(slice, entry, view)
  );
}

function isNotOurs(slice: ResourceSlice): boolean {
  const { metadata, spec } = slice;
  // A consumer that blocks the deletion of an accepted replica also keeps its Quota.
  const isGoing = metadata.deletionTimestamp !== undefined && !isAccepted(slice);
  // Liqo sets the consumer's ID on its side, and fails on an accepted slice without it.
  return spec.class !== SLICE_CLASS || isGoing || spec.consumerClusterID === undefined;
}

/** True when the origin in the replica matches its namespace. */
function isFrom({ metadata, spec }: ResourceSlice, tenant: string): boolean {
  return metadata.labels?.[LIQO_LABEL.origin] === tenant && spec.consumerClusterID === tenant;
}

export function isAccepted(slice: ResourceSlice): boolean {
  return resourcesCondition(slice)?.status === "Accepted";
}

export function resourcesCondition({ status }: ResourceSlice): ResourceSliceCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Resources");
}

function evaluateUnknown(
  slice: ResourceSlice,
  { isUnknownToBroker, unknownForMs }: ReservationView,
): ReplicaVerdict {
  const isNew = !isUnknownToBroker && !isAccepted(slice);
  if (isNew && unknownForMs < SETTLE_MS) return { kind: "leave", lookAgainMs: SETTLE_MS - unknownForMs };
  const message = `this cluster has no reservation ${slice.metadata.name}: the slice must have the name of its reservation`;
  return { kind: isUnknownToBroker ? "revoke" : "cordon", reason: "UnknownReservation", message };
}

function requesterProblem(
  tenant: string,
  { reservation, endedAt }: CachedReservation,
): ReplicaVerdict | undefined {
  const { requester, dataPlaneIds } = reservation;
  if (dataPlaneIds.requester === tenant) return undefined;
  if (dataPlaneIds.requester !== undefined) {
    const message = `the reservation does not belong to ${tenant}`;
    return { kind: "revoke", reason: "WrongRequester", message };
  }
  // An ended reservation is over for everyone, even when its requester's Liqo ID is not known any more.
  if (endedAt !== undefined) return undefined;
  const message = `the broker does not know Liqo's ID of ${requester}: its agent must run where Liqo is installed`;
  return { kind: "keep", reason: "RequesterNotInLiqo", message };
}

function timeProblem(
  { endedAt, reservation }: CachedReservation,
  now: Instant | undefined,
): ReplicaVerdict | undefined {
  if (endedAt !== undefined) {
    const leftMs = graceLeftMs(endedAt, now);
    const ended = {
      reason: "ReservationEnded",
      message: `the reservation has ended: ${reservation.message}`,
    };
    return leftMs <= 0 ? { kind: "revoke", ...ended } : { kind: "keep", ...ended, lookAgainMs: leftMs };
  }
  const expiresAt = parseTime(reservation.expiresAt ?? "");
  if (expiresAt === undefined) return undefined;
  if (now === undefined) return LATER;
  if (expiresAt > now) return undefined;
  // Only the broker decides whether it has ended: it may have been renewed.
  const message = "the reservation has expired";
  return { kind: "keep", reason: "ReservationExpired", message, lookAgainMs: RECHECK_MS };
}

/** How long the consumer of an ended reservation still has; `now` is the broker's time. */
export function graceLeftMs(endedAt: Instant, now: Instant | undefined): number {
  return now === undefined ? END_GRACE_MS : endedAt + END_GRACE_MS - now;
}

function evaluateAmounts(
  slice: ResourceSlice,
  { reservation }: CachedReservation,
  { isHeld, counted }: ReservationView,
): ReplicaVerdict {
  // A replica that was accepted by its writer is limited until then.
  if (!isHeld && !isAccepted(slice)) return LATER;
  const asked = slice.spec.resources ?? {};
  const problem = amountProblem(asked, reservation, counted);
  if (problem !== undefined) {
    const resources = cappedAmounts(slice.status?.resources ?? {}, reservation, counted);
    return { kind: "cap", ...problem, resources };
  }
  if (!isHeld) return LATER;
  const resources = cappedAmounts(asked, reservation, counted);
  return { kind: "grant", resources, message: `reserved for ${reservation.requester}` };
}
