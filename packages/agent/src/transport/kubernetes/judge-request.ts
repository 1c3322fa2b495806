import {
  Fault,
  type Reservation,
  type ReservationDTO,
  type ReservationRequestDTO,
} from "@resource-broker/contract";
import { isFinal, type ReservationRequest } from "@resource-broker/domain";
import { intentOf, isFinished, isOrphaned, isRefused, isSameRequest } from "./read-reservation.ts";

/** A request under one idempotency key. */
export interface KeyedRequest {
  /** Of the object. */
  readonly name: string;
  readonly key: string;
  readonly request: ReservationRequestDTO;
  /** The same as the ledger reads it. */
  readonly asked: ReservationRequest;
}

/** Throws when the key belongs to another request. */
export function rejectMismatch({ key, asked }: KeyedRequest, object: Reservation): void {
  if (intentOf(object) === "Release") {
    throw new Fault("key-released", `the key ${JSON.stringify(key)} was released`);
  }
  if (isRefused(object) || isSameRequest(asked, object)) return;
  throw new Fault(
    "key-mismatch",
    `the key ${JSON.stringify(key)} belongs to another request: Reservation ${object.metadata.name}`,
  );
}

/**
 * True: no ledger has a reservation for it, so it may be deleted. For an orphaned object it is unknown whether
 * the agent saw the answer; an agent that did would not ask again.
 */
export function isDiscardable(object: Reservation): boolean {
  return isRefused(object) || isOrphaned(object);
}

/** False: the object is being deleted, so the reservation is about to be released. */
export function isStable({ status }: ReservationDTO, { metadata }: Reservation, isGone: boolean): boolean {
  return isFinal(status.phase) || (!isGone && metadata.deletionTimestamp === undefined);
}

/** True: nothing is held for it any more. An orphaned reservation is released when a ledger adopts it: the condition stays. */
export function isReleased(object: Reservation): boolean {
  return isOrphaned(object) || isFinished(object);
}
