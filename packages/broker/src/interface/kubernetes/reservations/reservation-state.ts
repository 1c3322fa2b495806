import type { Reservation } from "@resource-broker/contract";
import type { StatusContext } from "../forge/reservation-status.ts";

/** An object and what the ledger knows. */
export interface ReservationState extends StatusContext {
  readonly object: Reservation;
  /** True: the policy has a quota for Reservations that name no requester. Otherwise none is served. */
  readonly mayBeUnnamed: boolean;
  /** Of an offer: this process has put it before the ledger not long ago. */
  readonly isOffered: boolean;
}
