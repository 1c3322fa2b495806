import type { ResourceVector } from "@resource-broker/base";
import { type Advertisement, MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";

/** A cluster that has advertised, as the scheduler sees it. The ledger's accounts are used directly, without a copy. */
export interface Candidate {
  readonly clusterId: ClusterId;
  readonly advertisement: Advertisement;
  readonly receivedAt: Instant;
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
  /** Capacity reserved from others that the cluster's older agent counts as its own: not lent again. */
  readonly withheld: ResourceVector;
  /** Reservations that are live here or still in its usage. */
  readonly reservationCount: number;
  readonly cordon: Cordon | undefined;
  /** Reservations this cluster refused after the grant; undefined when there are none. */
  readonly refused: ReadonlyMap<ReservationId, Reservation> | undefined;
}

/** True when the candidate is cordoned, has refused a reservation or has too many reservations. Rare; such candidates run all filters. */
export function isFlagged(candidate: Candidate): boolean {
  return candidate.cordon !== undefined || candidate.refused !== undefined || hasMaxReservations(candidate);
}

/** True when the `usage` list of its advertisement has no room for another reservation. */
export function hasMaxReservations({ reservationCount }: Pick<Candidate, "reservationCount">): boolean {
  return reservationCount >= MAX_RESERVATIONS_PER_PROVIDER;
}

/** Set by an admin: existing reservations stay, no new ones are granted. */
export interface Cordon {
  readonly at: Instant;
  readonly by: ClusterId;
  readonly why?: string;
}
