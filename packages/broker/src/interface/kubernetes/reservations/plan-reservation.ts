import {
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation as ReservationObject,
} from "@resource-broker/contract";
import { isFinal, isLive, KEEP_ENDED_MS, type Reservation } from "@resource-broker/domain";
import { identify, type Identity } from "../forge/identify.ts";
import { isTold, orphanedStatus, reservationStatus } from "../forge/reservation-status.ts";
import { deleteAfter } from "./keep.ts";
import { planIntent } from "./plan-intent.ts";
import { planSignal } from "./plan-signal.ts";
import { readRequest } from "./read-request.ts";
import type { ReservationState } from "./reservation-state.ts";
import type { Step } from "./step.ts";

const REST: Step = { kind: "rest" };

/** What to do next about a Reservation, whatever happened before. */
export function planReservation(state: ReservationState): Step {
  const identity = identify(state.object);
  const reservation = state.ledger.reservations.get(identity.id);
  if (identity.sort === "view") return planView(state, reservation);
  if (identity.intent !== "Reserve") return planIntent(state, identity);
  if (state.object.metadata.deletionTimestamp !== undefined) return planDeletion(state, reservation);
  if (!isDecided(state.object)) return planUndecided(state, identity);
  if (isRefused(state.object)) return planEnded(state, identity);
  return reservation === undefined ? planUnknown(state, identity) : planKnown(state, reservation);
}

/** True once the broker has said what became of the request. */
export function isDecided({ status }: ReservationObject): boolean {
  return status?.phase !== undefined && status.phase !== "Pending";
}

/** It was never granted, so whatever the ledger has under its name is somebody else's doing. */
function isRefused({ status }: ReservationObject): boolean {
  return status?.phase === "Failed" && (status.reason === "NoCapacity" || status.reason === "Invalid");
}

export function hasFinalizer({ metadata }: ReservationObject): boolean {
  return metadata.finalizers?.includes(RESERVATION_FINALIZER) === true;
}

/** The broker's own picture: its parties' words count there, too; all else is the views' business. */
function planView({ object, now }: ReservationState, reservation: Reservation | undefined): Step {
  const isHeard = reservation !== undefined && isLive(reservation.phase);
  return (isHeard ? planSignal(object, reservation, now) : undefined) ?? REST;
}

/** Only an object that somebody deletes releases; one that is missing says nothing. */
function planDeletion({ object }: ReservationState, reservation: Reservation | undefined): Step {
  if (!hasFinalizer(object)) return REST;
  const isHeld = reservation !== undefined && isLive(reservation.phase);
  return { kind: isHeld ? "release-deleted" : "let-go" };
}

function planUndecided({ object }: ReservationState, identity: Identity): Step {
  if (identity.sort === "agent" && object.metadata.name !== identity.id) {
    return refuse(`an object with spec.key must be named ${identity.id}; leave the key out, or name it so`);
  }
  const reading = readRequest(object);
  if (!reading.ok) return refuse(reading.problem);
  return hasFinalizer(object) ? { kind: "decide", request: reading.value } : { kind: "hold" };
}

function planKnown(state: ReservationState, reservation: Reservation): Step {
  const { object, now } = state;
  if (isFinal(reservation.phase)) {
    if (hasFinalizer(object)) return { kind: "let-go" };
  } else {
    if (!hasFinalizer(object)) return { kind: "hold" };
    const signal = planSignal(object, reservation, now);
    if (signal !== undefined) return signal;
    if (!namesParties(object, reservation)) return { kind: "name-parties", target: reservation.provider };
  }
  const status = reservationStatus(reservation, state, object);
  return isTold(status, object) ? REST : { kind: "tell", status };
}

/** The ledger has forgotten it, or never knew it. It is not decided again: whoever asked was answered. */
function planUnknown(state: ReservationState, identity: Identity): Step {
  const { object } = state;
  const { phase = "Reserved" } = object.status ?? {};
  if (isFinal(phase)) return planEnded(state, identity);
  const status = orphanedStatus(object, state);
  return isTold(status, object) ? REST : { kind: "tell", status };
}

/** A person's stays until that person deletes it. */
function planEnded({ object, now }: ReservationState, { sort }: Identity): Step {
  if (hasFinalizer(object)) return { kind: "let-go" };
  return sort === "person" ? REST : deleteAfter(KEEP_ENDED_MS, object, now);
}

function refuse(message: string): Step {
  return { kind: "refuse", refused: { code: "invalid", reason: "Invalid", message } };
}

function namesParties({ metadata, spec }: ReservationObject, { requester, provider }: Reservation): boolean {
  const { labels = {} } = metadata;
  const areLabelled = labels[KUBE_LABEL.requester] === requester && labels[KUBE_LABEL.target] === provider;
  return areLabelled && spec.targetClusterID === provider;
}
