import { formatTime } from "@resource-broker/base";
import {
  apiVersionOf,
  type ClusterAdvertisement,
  type Condition,
  clusterAdvertisementKind,
  RESERVATION_CONDITION,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import type { Instant } from "@resource-broker/domain";
import type { EventInput } from "@resource-broker/kube";
import { ADVERTISEMENT_CONDITION, type AdvertisementStatus } from "./advertisement-status.ts";
import { conditionIn } from "./conditions.ts";
import type { ReservationStatus } from "./reservation-status.ts";

type EventContent = Omit<EventInput, "regarding">;

/** Events for `kubectl describe` about the change from the current status to the written one. */
export function reservationEvents(object: Reservation, after: ReservationStatus): EventInput[] {
  const before = object.status;
  const events: EventContent[] = [];
  if (after.phase !== undefined && after.phase !== before?.phase) events.push(phaseChange(after));
  const { orphaned } = RESERVATION_CONDITION;
  const change = becomesTrue(orphaned, before?.conditions, after.conditions);
  if (change !== undefined) events.push({ type: "Warning", reason: "Orphaned", message: change.message });
  return eventsFor(reservationKind, object, events);
}

export function advertisementEvents(object: ClusterAdvertisement, after: AdvertisementStatus): EventInput[] {
  const before = object.status;
  const events: EventContent[] = [];
  for (const type of [ADVERTISEMENT_CONDITION.stale, ADVERTISEMENT_CONDITION.overcommitted]) {
    const change = becomesTrue(type, before?.conditions, after.conditions);
    if (change !== undefined) events.push({ type: "Warning", reason: type, message: change.message });
  }
  const { refused } = after;
  const isNew = refused !== undefined && refused.message !== before?.refused?.message;
  if (isNew) events.push({ type: "Warning", reason: "Refused", message: refused.message });
  return eventsFor(clusterAdvertisementKind, object, events);
}

/** A renewal does not change the phase and never shortens a reservation. The message says when it expires. */
export function renewedEvent(object: Reservation, expiresAt: Instant | undefined): EventInput {
  const message =
    expiresAt === undefined
      ? "The reservation has no expiry; it lasts until it is released."
      : `The reservation expires at ${formatTime(expiresAt)}.`;
  return { regarding: regarding(reservationKind, object), type: "Normal", reason: "Renewed", message };
}

export function renewalRefusedEvent(object: Reservation, message: string): EventInput {
  return {
    regarding: regarding(reservationKind, object),
    type: "Warning",
    reason: "RenewalRefused",
    message,
  };
}

/** Somebody deleted the object. */
export function releasedEvent(object: Reservation): EventInput {
  const message = "The object was deleted; the reservation is released.";
  return { regarding: regarding(reservationKind, object), type: "Normal", reason: "Released", message };
}

function phaseChange({ phase, reason, message = "", code }: ReservationStatus): EventContent {
  if (phase === "Failed")
    return { type: "Warning", reason: code === undefined ? (reason ?? "Failed") : "Refused", message };
  if (phase === "Active") return { type: "Normal", reason: "Activated", message };
  const isEnd = phase === "Released" && reason !== undefined && reason !== "ReleasedByRequester";
  return { type: "Normal", reason: isEnd ? reason : (phase ?? ""), message };
}

function becomesTrue(
  type: string,
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): Condition | undefined {
  const now = conditionIn(after, type);
  return now?.status === "True" && conditionIn(before, type)?.status !== "True" ? now : undefined;
}

type KnownKind = typeof reservationKind | typeof clusterAdvertisementKind;

function eventsFor(
  kind: KnownKind,
  object: Pick<Reservation, "metadata">,
  events: readonly EventContent[],
): EventInput[] {
  return events.map((each) => ({ regarding: regarding(kind, object), ...each }));
}

function regarding(kind: KnownKind, { metadata }: Pick<Reservation, "metadata">): EventInput["regarding"] {
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
  };
}
