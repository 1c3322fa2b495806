import { parseTime } from "@resource-broker/base";
import type { Reservation } from "@resource-broker/contract/crd";
import { ENDED_RETENTION_MS, type Instant, keyName } from "@resource-broker/domain";
import type { Identity } from "../builders/identify.ts";
import { answerStatus, type ReservationStatus } from "../builders/reservation-status.ts";
import { readOffer, readRequest } from "./read-request.ts";
import type { ReservationState, Step } from "./step.ts";

/** The creator reads the answer and deletes the object. If it does not, the broker deletes it after this time. */
export const ANSWER_TTL_MS = 10 * 60 * 1000;

/** Plans the deletion of an object `ttlMs` after its status was written. An object without that time stays. */
export function deleteAfter(ttlMs: number, { status }: Reservation, now: Instant): Step {
  const writtenAt = parseTime(status?.lastUpdateTime ?? "");
  if (writtenAt === undefined) return { kind: "done" };
  const leftMs = writtenAt + ttlMs - now;
  return leftMs <= 0 ? { kind: "delete" } : { kind: "done", requeueAfterMs: leftMs };
}

/** Plans the next step for an object with another intent than Reserve. */
export function planIntent(state: ReservationState, identity: Identity): Step {
  if (state.object.metadata.deletionTimestamp !== undefined) return { kind: "done" };
  if (identity.intent === "Quote") return planQuote(state);
  return identity.intent === "Release" ? planRelease(state, identity) : planOffer(state);
}

function planQuote(state: ReservationState): Step {
  const { object, now } = state;
  if (object.status?.fits !== undefined) return deleteAfter(ANSWER_TTL_MS, object, now);
  const reading = readRequest(object);
  if (reading.ok) return { kind: "quote", request: reading.value };
  return answer({ fits: false, code: "invalid", message: reading.problem }, state);
}

/** A new or restored ledger does not know the closed keys, so they are submitted again. */
function planRelease(state: ReservationState, { requester, key, id }: Identity): Step {
  const { object, ledger, now } = state;
  const { phase } = object.status ?? {};
  const expiry = deleteAfter(ENDED_RETENTION_MS, object, now);
  const isClosed = ledger.closedKeys.has(keyName(requester, key));
  if (phase !== undefined && (phase === "Failed" || isClosed || expiry.kind === "delete")) return expiry;
  if (object.metadata.name === id) return { kind: "close-key" };
  const message = `it must be named ${id}, after its key`;
  return answer({ phase: "Failed", reason: "Invalid", code: "invalid", message }, state);
}

function planOffer(state: ReservationState): Step {
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
  return isWaiting ? { kind: "done", requeueAfterMs: ANSWER_TTL_MS } : { kind: "offer", by, offer };
}

function answer(status: ReservationStatus, state: ReservationState): Step {
  return { kind: "write-status", status: answerStatus(status, state, state.object) };
}
