import type { Advertisement } from "../advertisement/advertisement.ts";
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
  readonly cordon: Cordon | undefined;
  /** Reservations this cluster refused after the grant; undefined when there are none. */
  readonly refused: ReadonlyMap<ReservationId, Reservation> | undefined;
}

/** True when it is cordoned or has refused someone: rare, and worth a closer look. */
export function isMarked({ cordon, refused }: Candidate): boolean {
  return cordon !== undefined || refused !== undefined;
}

/** Set by an admin: the cluster keeps what it lends and lends nothing new. */
export interface Cordon {
  readonly at: Instant;
  readonly by: ClusterId;
  readonly why?: string;
}
