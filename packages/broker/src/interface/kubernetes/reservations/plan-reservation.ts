import { parseDuration } from "@resource-broker/base";
import { LIMIT } from "@resource-broker/contract";
import {
  KUBE_ANNOTATION,
  KUBE_LABEL,
  NOBODY,
  RESERVATION_CONDITION,
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
  type Waiting,
} from "@resource-broker/domain";
import { conditionIn, isTrue } from "../builders/conditions.ts";
import { type Identity, identify, isImported } from "../builders/identify.ts";
import {
  isDecided,
  isRefused,
  isWaiting,
  MAX_RENEWAL,
  oneLine,
  orphanedStatus,
  refusedStatus,
  renewalEcho,
  RESERVATION_OWNERSHIP,
  type ReservationStatus,
  reservationStatus,
} from "../builders/reservation-status.ts";
import { statusWrite, stepFor } from "../projection/desired-object.ts";
import { planWaiting } from "./plan-waiting.ts";
import {
  ANSWER_TTL_MS,
  deleteAfter,
  planIntent,
  readAskedFor,
  readRequest,
  withoutFilledTarget,
} from "./plan-intent.ts";
import {
  addFinalizer,
  hasFinalizer,
  removeFinalizer,
  setParties,
  writeRefusal,
} from "./reservation-writes.ts";
import { isBrokersObject, planReservationView } from "./reservation-view.ts";
import type { ObjectState, PartyCommand, RenewalRequest, ReservationState, ReservationStep } from "./step.ts";

/** Of the condition ProviderHolding: the provider cannot hold what was granted. */
const REFUSED = "Refused";

const REQUESTER_MISSING =
  "spec.requesterID names the cluster that borrows: create it again with one. The policy can allow Reservations " +
  `without one, within a quota: quotas.${NOBODY}`;
const DONE: ReservationStep = { kind: "done" };

/** Plans the next step for a Reservation: a signal, a request, or a view of the ledger. */
export function planReservation(state: ReservationState): ReservationStep {
  if (!isObject(state)) return planReservationView(state);
  const { objects, views } = state;
  const { origin } = identify(state.object);
  const signal = objects && origin === "view" ? planViewSignal(state) : undefined;
  if (signal !== undefined) return signal;
  if (origin === "view" || (views && isBrokersObject(state))) return planReservationView(state);
  return objects ? planRequest(state) : DONE;
}

function isObject(state: ReservationState): state is ObjectState {
  return state.object !== undefined;
}

/** The parties can signal on a view too. */
function planViewSignal({ object, ledger, now }: ObjectState): ReservationStep | undefined {
  const reservation = ledger.reservations.get(object.metadata.name);
  return reservation !== undefined && isLive(reservation.phase)
    ? planSignal(object, reservation, now)
    : undefined;
}

/** An object of an agent or a person. */
function planRequest(state: ObjectState): ReservationStep {
  const identity = identify(state.object);
  if (identity.intent !== "Reserve") return planIntent(state, identity);
  const own = ownEntry(state, identity);
  if (state.object.metadata.deletionTimestamp !== undefined) return planDeletion(state, own);
  if (own !== undefined) return isReservation(own) ? planKnown(state, own) : planQueued(state, identity, own);
  if (!isDecided(state.object)) return planUndecided(state, identity);
  return isRefused(state.object) ? planEnded(state, identity) : planUnknown(state, identity);
}

/** A restored ledger may be older than the grant: both parties still have the reservation, and offer it for adoption. */
function planQueued(state: ObjectState, identity: Identity, entry: Waiting): ReservationStep {
  return wasGranted(state.object) ? planUnknown(state, identity) : planWaiting(state, entry);
}

/** The reservation or waiting request that was made for this object. */
function ownEntry({ object, ledger }: ObjectState, identity: Identity): Reservation | Waiting | undefined {
  const found = ledger.reservations.get(identity.id) ?? ledger.waiting.byId.get(identity.id);
  return found !== undefined && represents(object, identity, found) ? found : undefined;
}

/** The broker has granted it: the label of the target comes with the grant. */
function wasGranted({ metadata, status }: ReservationObject): boolean {
  return isLive(status?.phase ?? "Pending") && metadata.labels?.[KUBE_LABEL.target] !== undefined;
}

function isReservation(found: Reservation | Waiting): found is Reservation {
  return "provider" in found;
}

/**
 * True if the reservation or waiting request with this id was made for this object, even if status or spec were edited. For a person's object
 * the id is derived from its UID. For an agent's object the key may also have been used over HTTP or in another object: a copy
 * under another name, or a refused object, does not count.
 */
function represents(
  object: ReservationObject,
  { origin, id }: Identity,
  found: Reservation | Waiting,
): boolean {
  if (origin === "person") return true;
  if (object.metadata.name !== id) return false;
  if (isWaiting(object) || (isDecided(object) && !isRefused(object))) return true;
  const reading = readRequest(object);
  const mayShow = !isFinal(found.phase) && (isReservation(found) || object.spec.wait !== undefined);
  return reading.ok && mayShow && isSameRequest(found, withoutFilledTarget(reading.value, found));
}

/** Only a deletion releases a reservation, or takes a request out of the queue; a missing object does not. */
function planDeletion({ object }: ObjectState, own: Reservation | Waiting | undefined): ReservationStep {
  if (!hasFinalizer(object)) return DONE;
  return own !== undefined && !isFinal(own.phase)
    ? { kind: "call", call: { kind: "release-deleted" } }
    : { kind: "answer", write: removeFinalizer(object) };
}

function planUndecided(state: ObjectState, identity: Identity): ReservationStep {
  const { object, ledger, mayBeUnnamed } = state;
  // The name belongs to the view of a reservation: this object is that view without its label, or it blocks the name.
  if (identity.origin === "person" && ledger.reservations.has(object.metadata.name)) return DONE;
  if (identity.origin === "agent" && object.metadata.name !== identity.id) {
    const message = `an object with spec.key must be named ${identity.id}; leave the key out, or name it so`;
    return refuse(message, state);
  }
  if (identity.requester === NOBODY && !mayBeUnnamed) return refuse(REQUESTER_MISSING, state);
  const reading = readAskedFor(object);
  if (!reading.ok) return refuse(reading.problem, state);
  const name = hasFinalizer(object) ? {} : ({ name: "add-finalizer" } as const);
  return { kind: "call", call: { kind: "decide", ...name, asked: reading.value } };
}

function planKnown(state: ObjectState, reservation: Reservation): ReservationStep {
  const { object, now } = state;
  if (isFinal(reservation.phase)) {
    if (hasFinalizer(object)) return { kind: "answer", write: removeFinalizer(object) };
  } else {
    if (!hasFinalizer(object)) return { kind: "answer", write: addFinalizer(object) };
    const signal = planSignal(object, reservation, now);
    if (signal !== undefined) return signal;
    if (!hasParties(object, reservation)) return { kind: "answer", write: setParties(object, reservation) };
  }
  return statusStep(reservationStatus(reservation, state, object), object);
}

/** The ledger does not know it. It is not decided again, because the requester already got an answer. */
function planUnknown(state: ObjectState, identity: Identity): ReservationStep {
  const { object, ledger } = state;
  const { phase = "Reserved" } = object.status ?? {};
  if (isFinal(phase)) return planEnded(state, identity);
  // Imported from an older broker under its name: the view replaces the object.
  if (isImported(object, ledger.reservations.get(object.metadata.name))) return DONE;
  return statusStep(orphanedStatus(object, state), object);
}

/** A person's object stays until the person deletes it. An agent's object is deleted sooner if a live reservation needs its name. */
function planEnded({ object, ledger, now }: ObjectState, { origin, id }: Identity): ReservationStep {
  if (hasFinalizer(object)) return { kind: "answer", write: removeFinalizer(object) };
  if (origin === "person") return DONE;
  const blocksLiveReservation = isLive(ledger.reservations.get(id)?.phase ?? "Failed");
  return deleteAfter(blocksLiveReservation ? ANSWER_TTL_MS : ENDED_RETENTION_MS, object, now);
}

function statusStep(status: ReservationStatus, object: ReservationObject): ReservationStep {
  return stepFor("answer", statusWrite(status, object, RESERVATION_OWNERSHIP));
}

function refuse(message: string, state: ObjectState): ReservationStep {
  const refused = { code: "invalid", reason: "Invalid", message } as const;
  return { kind: "answer", write: writeRefusal(refusedStatus(refused, state, state.object)) };
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
function planSignal(
  object: ReservationObject,
  reservation: Reservation,
  now: Instant,
): ReservationStep | undefined {
  // The reservation has expired and the ledger will end it: a signal would be rejected.
  if ((reservation.expiresAt ?? now + 1) <= now) return undefined;
  const command = partySignal(object, reservation);
  return command === undefined
    ? planRenewal(object)
    : { kind: "call", call: { kind: "submit", name: command.kind, command } };
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

function planRenewal({ metadata, status }: ReservationObject): ReservationStep | undefined {
  const renewal = metadata.annotations?.[KUBE_ANNOTATION.renew];
  if (renewal === undefined || renewalEcho(renewal) === status?.renewed) return undefined;
  return { kind: "call", call: { kind: "renew", renewal: parseRenewal(renewal) } };
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
