import { type ReservationOrWaiting, reservationCall, schemaFor } from "@resource-broker/client";
import { validate } from "@resource-broker/contract";

const { schema: RESERVATION_OR_WAITING } = reservationCall("any");

/** What a reply tells under one ID: a reservation, or a request that waits or has left the queue. Undefined: neither. */
export function reservationOrWaitingIn(body: unknown): ReservationOrWaiting | undefined {
  const read = validate(schemaFor(RESERVATION_OR_WAITING, body), body);
  return read.ok ? read.value : undefined;
}
