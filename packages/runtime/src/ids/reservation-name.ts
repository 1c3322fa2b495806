import { hash } from "node:crypto";
import { type ClusterId, type ReservationId, reservationId } from "@resource-broker/domain";

/** The same key of the same requester makes the same id: on every store, after every restart, and at the agent itself. */
export function reservationNameFor(requester: ClusterId, key: string): ReservationId {
  return reservationId(requester, hash("sha256", `${requester}\0${key}`, "buffer"));
}
