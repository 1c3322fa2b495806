import { parseTime } from "@resource-broker/base";
import {
  describeProblems,
  type Mapped,
  present,
  reservationRequestSchema,
  toAdoptionOffers,
  toMilliseconds,
  toReservationRequest,
  validate,
} from "@resource-broker/contract";
import { type Reservation, reservationKind } from "@resource-broker/contract/crd";
import {
  type AdoptionOffer,
  type ClusterId,
  ENDED_RETENTION_MS,
  type Instant,
  keyName,
  MARKET_PROTOCOL,
  type Reservation as Booked,
  type ReservationRequest,
  type Waiting,
} from "@resource-broker/domain";
import type { Identity } from "../builders/identify.ts";
import { answerStatus, type ReservationStatus } from "../builders/reservation-status.ts";
import type { AskedFor, ObjectState, ReservationStep } from "./step.ts";

/** The creator reads the answer and deletes the object. If it does not, the broker deletes it after this time. */
export const ANSWER_TTL_MS = 10 * 60 * 1000;

/** Plans the deletion of an object `ttlMs` after its status was written. An object without that time stays. */
export function deleteAfter(ttlMs: number, { status }: Reservation, now: Instant): ReservationStep {
  const writtenAt = parseTime(status?.lastUpdateTime ?? "");
  if (writtenAt === undefined) return { kind: "done" };
  const leftMs = writtenAt + ttlMs - now;
  return leftMs <= 0
    ? { kind: "answer", write: { kind: "delete" } }
    : { kind: "done", requeueAfterMs: leftMs };
}

/** Plans the next step for an object with another intent than Reserve. */
export function planIntent(state: ObjectState, identity: Identity): ReservationStep {
  if (state.object.metadata.deletionTimestamp !== undefined) return { kind: "done" };
  if (identity.intent === "Quote") return planQuote(state);
  return identity.intent === "Release" ? planRelease(state, identity) : planOffer(state);
}

function planQuote(state: ObjectState): ReservationStep {
  const { object, now } = state;
  if (object.status?.fits !== undefined) return deleteAfter(ANSWER_TTL_MS, object, now);
  const reading = readRequest(object);
  if (reading.ok) return { kind: "call", call: { kind: "quote", request: reading.value } };
  return answer({ fits: false, code: "invalid", message: reading.problem }, state);
}

/** A new or restored ledger does not know the closed keys, so they are submitted again. */
function planRelease(state: ObjectState, { requester, key, id }: Identity): ReservationStep {
  const { object, ledger, now } = state;
  const { phase } = object.status ?? {};
  const expiry = deleteAfter(ENDED_RETENTION_MS, object, now);
  const isClosed = ledger.closedKeys.has(keyName(requester, key));
  if (phase !== undefined && (phase === "Failed" || isClosed || expiry.kind === "answer")) return expiry;
  if (object.metadata.name === id) return { kind: "call", call: { kind: "close-key" } };
  const message = `it must be named ${id}, after its key`;
  return answer({ phase: "Failed", reason: "Invalid", code: "invalid", message }, state);
}

function planOffer(state: ObjectState): ReservationStep {
  const { object, ledger, now, isOffered } = state;
  const { outcome } = object.status ?? {};
  if (outcome === "adopted" || outcome === "refused") return deleteAfter(ANSWER_TTL_MS, object, now);
  const reading = readOffer(object);
  if (!reading.ok) return answer({ outcome: "refused", message: reading.problem }, state);
  const { by, offer } = reading.value;
  const name = `${offer.id}-offer-${by}`;
  if (object.metadata.name !== name) {
    return answer({ outcome: "refused", message: `it must be named ${name}` }, state);
  }
  // The other party or an admin may have decided it in the ledger. Otherwise the offer is repeated from time to time.
  const isWaiting = outcome !== undefined && isOffered && !ledger.reservations.has(offer.id);
  return isWaiting
    ? { kind: "done", requeueAfterMs: ANSWER_TTL_MS }
    : { kind: "call", call: { kind: "offer", by, offer } };
}

function answer(status: ReservationStatus, state: ObjectState): ReservationStep {
  return {
    kind: "answer",
    write: { kind: "write-status", status: answerStatus(status, state, state.object) },
  };
}

type Reading<T> =
  | { readonly ok: true; readonly value: T }
  /** Everything that is wrong, in one line. */
  | { readonly ok: false; readonly problem: string };

/** What is asked for. The API server has checked it, but perhaps by an older definition. */
export function readRequest({ spec }: Reservation): Reading<ReservationRequest> {
  const checked = validate(reservationRequestSchema, spec);
  return read(checked.ok ? toReservationRequest(checked.value) : checked);
}

/** The same for a request that is to be decided, with whether it may wait and for whom. */
export function readAskedFor({ spec }: Reservation): Reading<AskedFor> {
  const checked = validate(reservationRequestSchema, spec);
  if (!checked.ok) return read(checked);
  const { wait, namespace, resumes } = checked.value;
  const forMs = wait?.for === undefined ? undefined : toMilliseconds(wait.for);
  const request = read(toReservationRequest(checked.value));
  if (!request.ok) return request;
  // Whoever lets an object wait knows of waiting requests.
  const waits = wait === undefined ? {} : { wait: present({ forMs }), protocol: MARKET_PROTOCOL };
  return { ok: true, value: { request: request.value, ...present({ namespace, resumes }), ...waits } };
}

/** Removes a target that the broker itself filled in before a crash: the requester did not ask for it. */
export function withoutFilledTarget(
  request: ReservationRequest,
  existing: Booked | Waiting | undefined,
): ReservationRequest {
  if (existing === undefined || !("provider" in existing)) return request;
  if (request.target !== existing.provider) return request;
  const { target: _, ...asked } = request;
  return existing.request.target === undefined ? asked : request;
}

/** The offer of an object with the intent Adopt, and its sender. */
function readOffer({ spec }: Reservation): Reading<{ by: ClusterId; offer: AdoptionOffer }> {
  const checked = validate(reservationKind.spec, spec);
  if (!checked.ok) return read(checked);
  const { offer: offered, requesterID, targetClusterID, requestedResources } = checked.value;
  if (offered === undefined || requestedResources === undefined || !requesterID || !targetClusterID) {
    return {
      ok: false,
      problem: "an offer names requesterID, targetClusterID, requestedResources and offer",
    };
  }
  const { by, ...reservation } = offered;
  const mapped = read(
    toAdoptionOffers({
      reservations: [{ ...reservation, requesterID, targetClusterID, requestedResources }],
    }),
  );
  if (!mapped.ok) return mapped;
  const [offer] = mapped.value;
  return offer === undefined
    ? { ok: false, problem: "nothing is offered" }
    : { ok: true, value: { by, offer } };
}

function read<T>(mapped: Mapped<T>): Reading<T> {
  return mapped.ok ? mapped : { ok: false, problem: describeProblems(mapped.problems) };
}
