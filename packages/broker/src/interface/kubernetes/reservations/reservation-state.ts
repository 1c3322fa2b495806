import type { Reservation } from "@resource-broker/contract";
import type { Instant, LedgerView } from "@resource-broker/domain";

/** An object and what the ledger knows. */
export interface ReservationState {
  readonly object: Reservation;
  readonly ledger: LedgerView;
  readonly ledgerId: string;
  readonly now: Instant;
  /** Of an offer: this process has put it before the ledger not long ago. */
  readonly isOffered: boolean;
}
