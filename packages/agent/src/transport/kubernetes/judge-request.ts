import {
  Fault,
  type Reservation,
  type ReservationDTO,
  type ReservationRequestDTO,
} from "@resource-broker/contract";
import { isFinal, type ReservationRequest } from "@resource-broker/domain";
import { intentOf, isFinished, isOrphaned, isRefused, isSameRequest } from "./read-reservation.ts";

/** What is asked for under one key. */
export interface Wish {
  /** Of the object. */
  readonly name: string;
  readonly key: string;
  readonly request: ReservationRequestDTO;
  /** The same as the ledger reads it. */
  readonly asked: ReservationRequest;
}

/** Throws where the key is taken by something else. */
export function refuseOther({ key, asked }: Wish, object: Reservation): void {
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
 * True: no ledger holds anything for it, so it may be taken away. Of what a broker forgot it is not known whether the
 * agent ever heard; one that had would not ask again.
 */
export function isVoid(object: Reservation): boolean {
  return isRefused(object) || isOrphaned(object);
}

/** False: somebody deletes it, so that it is about to be released. */
export function isStanding({ status }: ReservationDTO, { metadata }: Reservation, isGone: boolean): boolean {
  return isFinal(status.phase) || (!isGone && metadata.deletionTimestamp === undefined);
}

/** True: nothing is held for it any more. What a broker forgot is released when it remembers: that is said there. */
export function isReleased(object: Reservation): boolean {
  return isOrphaned(object) || isFinished(object);
}
