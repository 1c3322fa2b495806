import { type Advertisement, MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { ResourceVector } from "../resources/resource-vector.ts";

/** A cluster that advertised, as deciding sees it. The ledger's accounts are candidates as they stand: nothing is copied. */
export interface Candidate {
  readonly clusterId: ClusterId;
  readonly advertisement: Advertisement;
  readonly receivedAt: Instant;
  readonly reserved: ResourceVector;
  readonly available: ResourceVector;
  /** What it borrows and its older agent counts as its own: not lent on. */
  readonly withheld: ResourceVector;
  /** Reservations that are live here or still in its usage. */
  readonly reservationCount: number;
  readonly cordon: Cordon | undefined;
  /** Reservations this cluster refused after the grant; undefined when there are none. */
  readonly refused: ReadonlyMap<ReservationId, Reservation> | undefined;
}

/** True when it is cordoned, has refused someone or has too many reservations: rare, and worth a closer look. */
export function isMarked(candidate: Candidate): boolean {
  return candidate.cordon !== undefined || candidate.refused !== undefined || hasMostReservations(candidate);
}

/** One more could not be listed in its usage. */
export function hasMostReservations({ reservationCount }: Pick<Candidate, "reservationCount">): boolean {
  return reservationCount >= MAX_RESERVATIONS_PER_PROVIDER;
}

/** Set by an admin: the cluster keeps what it lends and lends nothing new. */
export interface Cordon {
  readonly at: Instant;
  readonly by: ClusterId;
  readonly why?: string;
}
