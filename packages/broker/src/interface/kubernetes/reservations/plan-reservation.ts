import { parseDuration } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  NOBODY,
  RESERVATION_CONDITION,
  RESERVATION_FINALIZER,
  type Reservation as ReservationObject,
} from "@resource-broker/contract/crd";
import {
  type Actor,
  type ClusterId,
  ENDED_RETENTION_MS,
  type Instant,
  isFinal,
  isLive,
  isSameRequest,
  type Reservation,
} from "@resource-broker/domain";
import { conditionIn, isTrue } from "../builders/conditions.ts";
import { type Identity, identify, isImported } from "../builders/identify.ts";
import {
  isDecided,
  isRefused,
  isStatusCurrent,
  orphanedStatus,
  reservationStatus,
} from "../builders/reservation-status.ts";
import { MAX_RENEWAL, oneLine, renewalEcho } from "../builders/texts.ts";
import { ANSWER_TTL_MS, deleteAfter, planIntent } from "./plan-intent.ts";
import { readRequest, withoutFilledTarget } from "./read-request.ts";
import type { PartyCommand, RenewalRequest, ReservationState, Step } from "./step.ts";

/** Of the condition ProviderHolding: the provider cannot hold what was granted. */
const REFUSED = "Refused";

const REQUESTER_MISSING =
  "spec.requesterID names the cluster that borrows: create it again with one. The policy can allow Reservations " +
  `without one, within a quota: quotas.${NOBODY}`;
const DONE: Step = { kind: "done" };

/** Plans the next step for a Reservation from its current state. */
export function planReservation(state: ReservationState): Step {
  const identity = identify(state.object);
  const found = state.ledger.reservations.get(identity.id);
  if (identity.origin === "view") return planView(state, found);
  if (identity.intent !== "Reserve") return planIntent(state, identity);
  const own = found !== undefined && represents(state.object, identity, found) ? found : undefined;
  if (state.object.metadata.deletionTimestamp !== undefined) return planDeletion(state, own);
  if (own !== undefined) return planKnown(state, own);
  if (!isDecided(state.object)) return planUndecided(state, identity);
  return isRefused(state.object) ? planEnded(state, identity) : planUnknown(state, identity);
}

/**
 * True if the reservation with this id was made for this object, even if status or spec were edited. For a person's object
 * the id is derived from its UID. For an agent's object the key may also have been used over HTTP or in another object: a copy
 * under another name, or a refused object, does not count.
 */
function represents(object: ReservationObject, { origin, id }: Identity, found: Reservation): boolean {
  if (origin === "person") return true;
  if (object.metadata.name !== id) return false;
  if (isDecided(object) && !isRefused(object)) return true;
  const reading = readRequest(object);
  return reading.ok && isLive(found.phase) && isSameRequest(found, withoutFilledTarget(reading.value, found));
}

export function hasFinalizer({ metadata }: ReservationObject): boolean {
  return metadata.finalizers?.includes(RESERVATION_FINALIZER) === true;
}

/** A view of the broker: signals of the parties count, everything else is done by the views. */
function planView({ object, now }: ReservationState, reservation: Reservation | undefined): Step {
  const isLiveReservation = reservation !== undefined && isLive(reservation.phase);
  return (isLiveReservation ? planSignal(object, reservation, now) : undefined) ?? DONE;
}

/** Only a deletion releases a reservation; a missing object does not. */
function planDeletion({ object }: ReservationState, reservation: Reservation | undefined): Step {
  if (!hasFinalizer(object)) return DONE;
  const isLiveReservation = reservation !== undefined && isLive(reservation.phase);
  return { kind: isLiveReservation ? "release-deleted" : "remove-finalizer" };
}

function planUndecided({ object, ledger, mayBeUnnamed }: ReservationState, identity: Identity): Step {
  // The name belongs to the view of a reservation: this object is that view without its label, or it blocks the name.
  if (identity.origin === "person" && ledger.reservations.has(object.metadata.name)) return DONE;
  if (identity.origin === "agent" && object.metadata.name !== identity.id) {
    return refuse(`an object with spec.key must be named ${identity.id}; leave the key out, or name it so`);
  }
  if (identity.requester === NOBODY && !mayBeUnnamed) return refuse(REQUESTER_MISSING);
  const reading = readRequest(object);
  if (!reading.ok) return refuse(reading.problem);
  return { kind: hasFinalizer(object) ? "decide" : "add-finalizer", request: reading.value };
}

function planKnown(state: ReservationState, reservation: Reservation): Step {
  const { object, now } = state;
  if (isFinal(reservation.phase)) {
    if (hasFinalizer(object)) return { kind: "remove-finalizer" };
  } else {
    if (!hasFinalizer(object)) return { kind: "add-finalizer" };
    const signal = planSignal(object, reservation, now);
    if (signal !== undefined) return signal;
    if (!hasParties(object, reservation)) return { kind: "set-parties", target: reservation.provider };
  }
  const status = reservationStatus(reservation, state, object);
  return isStatusCurrent(status, object) ? DONE : { kind: "write-status", status };
}

/** The ledger does not know it. It is not decided again, because the requester already got an answer. */
function planUnknown(state: ReservationState, identity: Identity): Step {
  const { object, ledger } = state;
  const { phase = "Reserved" } = object.status ?? {};
  if (isFinal(phase)) return planEnded(state, identity);
  // Imported from an older broker under its name: the view replaces the object.
  if (isImported(object, ledger.reservations.get(object.metadata.name))) return DONE;
  const status = orphanedStatus(object, state);
  return isStatusCurrent(status, object) ? DONE : { kind: "write-status", status };
}

/** A person's object stays until the person deletes it. An agent's object is deleted sooner if a live reservation needs its name. */
function planEnded({ object, ledger, now }: ReservationState, { origin, id }: Identity): Step {
  if (hasFinalizer(object)) return { kind: "remove-finalizer" };
  if (origin === "person") return DONE;
  const blocksLiveReservation = isLive(ledger.reservations.get(id)?.phase ?? "Failed");
  return deleteAfter(blocksLiveReservation ? ANSWER_TTL_MS : ENDED_RETENTION_MS, object, now);
}

function refuse(message: string): Step {
  return { kind: "refuse", refused: { code: "invalid", reason: "Invalid", message } };
}

function hasParties({ metadata, spec }: ReservationObject, { requester, provider }: Reservation): boolean {
  const { labels = {} } = metadata;
  const areLabelled = labels[KUBE_LABEL.requester] === requester && labels[KUBE_LABEL.target] === provider;
  return areLabelled && spec.targetClusterID === provider;
}

/**
 * Plans the signals of the parties that the ledger does not know yet. Signals are level-triggered: a repeated signal, or one
 * set while the broker was down, has one effect.
 */
function planSignal(object: ReservationObject, reservation: Reservation, now: Instant): Step | undefined {
  // The reservation has expired and the ledger will end it: a signal would be rejected.
  if ((reservation.expiresAt ?? now + 1) <= now) return undefined;
  const command = partySignal(object, reservation);
  return command === undefined ? planRenewal(object) : { kind: "submit", command };
}

function partySignal({ status }: ReservationObject, reservation: Reservation): PartyCommand | undefined {
  const { id } = reservation;
  const requester = { by: party(reservation.requester), id };
  const conditions = status?.conditions;
  if (isTrue(conditions, RESERVATION_CONDITION.requesterReleased)) return { kind: "release", ...requester };
  const answer = providerSignal(status, reservation);
  if (answer !== undefined) return answer;
  const isNew = isTrue(conditions, RESERVATION_CONDITION.requesterActive) && reservation.phase === "Reserved";
  return isNew ? { kind: "activate", ...requester } : undefined;
}

/** The provider's. */
function providerSignal(
  status: ReservationObject["status"],
  { id, provider, acknowledged }: Reservation,
): PartyCommand | undefined {
  const holding = conditionIn(status?.conditions, RESERVATION_CONDITION.providerHolding);
  const by = party(provider);
  if (holding?.status === "True") return acknowledged ? undefined : { kind: "acknowledge", by, id };
  const isRefused = holding?.status === "False" && holding.reason === REFUSED;
  if (!isRefused) return undefined;
  return {
    kind: "refuse",
    by,
    id,
    why: oneLine(holding.message, LIMIT.reasonLength) || "the provider gave no reason",
  };
}

function planRenewal({ metadata, status }: ReservationObject): Step | undefined {
  const renewal = metadata.annotations?.[KUBE_ANNOTATION.renew];
  if (renewal === undefined || renewalEcho(renewal) === status?.renewed) return undefined;
  return { kind: "renew", renewal: parseRenewal(renewal) };
}

/** Parses `<duration> <any new text>`. If the text cannot be repeated in the status, the renewal is refused, or it would be applied again and again. */
function parseRenewal(renewal: string): RenewalRequest {
  const text = renewalEcho(renewal);
  if (text !== renewal)
    return { text, problem: `the annotation must be one line of at most ${MAX_RENEWAL} characters` };
  const [duration = ""] = text.split(" ", 1);
  const parsed = parseDuration(duration);
  return parsed.ok ? { text, durationMs: parsed.ms } : { text, problem: parsed.problem };
}

function party(clusterId: ClusterId): Actor {
  return { clusterId, isAdmin: false };
}
