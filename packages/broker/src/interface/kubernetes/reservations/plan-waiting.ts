import { parseTime } from "@resource-broker/base";
import { isPlaceNews } from "@resource-broker/contract";
import { RESERVATION_CONDITION, type Reservation as ReservationObject } from "@resource-broker/contract/crd";
import { type Instant, isFinal, type Waiting } from "@resource-broker/domain";
import { isTrue } from "../builders/conditions.ts";
import {
  RESERVATION_OWNERSHIP,
  type ReservationStatus,
  waitingStatus,
} from "../builders/reservation-status.ts";
import { statusWrite, stepFor } from "../projection/desired-object.ts";
import { addFinalizer, hasFinalizer, removeFinalizer, writeWaiting } from "./reservation-writes.ts";
import type { ObjectState, ReservationStep } from "./step.ts";

/** A shown place is not written more often. */
export const PLACE_EVERY_MS = 60_000;

/** Plans the next step for an object whose request waits, or has left the queue without a reservation. */
export function planWaiting(state: ObjectState, entry: Waiting): ReservationStep {
  const { object } = state;
  const status = waitingStatus(entry, state, object);
  if (isFinal(entry.phase)) {
    if (hasFinalizer(object)) return { kind: "answer", write: removeFinalizer(object) };
    return stepFor("answer", statusWrite(status, object, RESERVATION_OWNERSHIP));
  }
  if (!hasFinalizer(object)) return { kind: "answer", write: addFinalizer(object) };
  if (isTrue(object.status?.conditions, RESERVATION_CONDITION.requesterReleased)) return release(entry);
  if (!isShown(object, status)) return { kind: "answer", write: writeWaiting(status) };
  return planPlace(state, status);
}

function release({ requester, id }: Waiting): ReservationStep {
  const command = { kind: "release", by: { clusterId: requester, isAdmin: false }, id } as const;
  return { kind: "call", call: { kind: "submit", name: command.kind, command } };
}

/** A place is no answer: it is written at the rate of the views, after everything else. */
function planPlace({ object, now }: ObjectState, status: ReservationStatus): ReservationStep {
  const { queue: shown } = object.status ?? {};
  const isNews = status.queue !== undefined && (shown === undefined || isPlaceNews(shown, status.queue));
  if (!isNews) return { kind: "done" };
  const leftMs = shown === undefined ? 0 : restMs(object, now);
  if (leftMs > 0) return { kind: "done", requeueAfterMs: leftMs };
  return { kind: "show", write: { kind: "write-status", status } };
}

/** What stays as it is for as long as a request waits. */
const LASTING = ["phase", "reservationID", "ledgerID", "createdAt", "until"] as const;

/** The object says that this very request waits. */
function isShown({ status: found = {} }: ReservationObject, status: ReservationStatus): boolean {
  const isSame = LASTING.every((field) => found[field] === status[field]);
  return isSame && isTrue(found.conditions, RESERVATION_CONDITION.queued);
}

function restMs({ status }: ReservationObject, now: Instant): number {
  const writtenAt = parseTime(status?.lastUpdateTime ?? "") ?? now;
  return writtenAt > now ? 0 : writtenAt + PLACE_EVERY_MS - now;
}
