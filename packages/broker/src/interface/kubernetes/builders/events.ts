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
import type { Instant, Phase } from "@resource-broker/domain";
import type { EventInput } from "@resource-broker/kube";
import { ADVERTISEMENT_CONDITION, type AdvertisementStatus } from "./advertisement-status.ts";
import { conditionIn, isTrue } from "./conditions.ts";
import type { ReservationStatus } from "./reservation-status.ts";

type EventContent = Omit<EventInput, "regarding">;

/** Events for `kubectl describe` about the change from the current status to the written one. */
export function reservationEvents(object: Reservation, after: ReservationStatus): EventInput[] {
  const before = object.status;
  const hasNewPhase = after.phase !== undefined && after.phase !== before?.phase;
  return eventsFor(reservationKind, object, [
    ...(hasNewPhase ? [phaseChange(after)] : []),
    ...warningIfNew(RESERVATION_CONDITION.orphaned, before?.conditions, after.conditions),
  ]);
}

export function advertisementEvents(object: ClusterAdvertisement, after: AdvertisementStatus): EventInput[] {
  const before = object.status;
  const { stale, overcommitted } = ADVERTISEMENT_CONDITION;
  const { refused } = after;
  const isNew = refused !== undefined && refused.message !== before?.refused?.message;
  return eventsFor(clusterAdvertisementKind, object, [
    ...warningIfNew(stale, before?.conditions, after.conditions),
    ...warningIfNew(overcommitted, before?.conditions, after.conditions),
    ...(isNew ? [{ type: "Warning", reason: "Refused", message: refused.message } as const] : []),
  ]);
}

/** A renewal does not change the phase and never shortens a reservation. The message says when it expires. */
export function renewedEvent(object: Reservation, expiresAt: Instant | undefined): EventInput {
  const message =
    expiresAt === undefined
      ? "The reservation has no expiry; it lasts until it is released."
      : `The reservation expires at ${formatTime(expiresAt)}.`;
  return { ...regarding(reservationKind, object), type: "Normal", reason: "Renewed", message };
}

export function renewalRefusedEvent(object: Reservation, message: string): EventInput {
  return { ...regarding(reservationKind, object), type: "Warning", reason: "RenewalRefused", message };
}

/** Somebody deleted the object. */
export function releasedEvent(object: Reservation, before: Phase): EventInput {
  const what = before === "Pending" ? "the request has left the queue" : "the reservation is released";
  const message = `The object was deleted; ${what}.`;
  return { ...regarding(reservationKind, object), type: "Normal", reason: "Released", message };
}

/** Of the phases that a reservation or its request comes to without an end. */
const BEGUN: Readonly<Partial<Record<Phase, string>>> = { Pending: "Queued", Active: "Activated" };

function phaseChange({ phase = "Pending", reason, message = "", code }: ReservationStatus): EventContent {
  if (phase === "Failed")
    return { type: "Warning", reason: code === undefined ? (reason ?? "Failed") : "Refused", message };
  const isEnd = phase === "Released" && reason !== undefined && reason !== "ReleasedByRequester";
  return { type: "Normal", reason: isEnd ? reason : (BEGUN[phase] ?? phase), message };
}

/** A warning if a condition becomes True; its reason is the condition's type. */
function warningIfNew(
  type: string,
  before: readonly Condition[] | undefined,
  after: readonly Condition[] | undefined,
): EventContent[] {
  const now = conditionIn(after, type);
  const isNew = now?.status === "True" && !isTrue(before, type);
  return isNew ? [{ type: "Warning", reason: type, message: now.message }] : [];
}

type KnownKind = typeof reservationKind | typeof clusterAdvertisementKind;
type Subject = Pick<Reservation, "metadata">;

function eventsFor(kind: KnownKind, object: Subject, events: readonly EventContent[]): EventInput[] {
  return events.map((each) => ({ ...regarding(kind, object), ...each }));
}

function regarding(kind: KnownKind, { metadata }: Subject): Pick<EventInput, "regarding"> {
  const { name, namespace, uid } = metadata;
  return {
    regarding: {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    },
  };
}
