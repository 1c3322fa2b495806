import type { ClusterId, Instant } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Cordon } from "../scheduling/candidate-table.ts";
import type { ReceivedAdvertisement } from "./account.ts";
import type { AdoptionWindow } from "./adoption-window.ts";
import { closeKey, putAdvertisement, putReservation, setCordon } from "./apply.ts";
import type { ClosedKey } from "./event.ts";
import { accountOf, emptyLedger, type Ledger } from "./ledger.ts";

/** Everything a store must keep. The rest of the ledger is derived from it. */
export interface LedgerRecords {
  readonly reservations: readonly Reservation[];
  readonly closedKeys: readonly ClosedKey[];
  readonly cordons: readonly (readonly [ClusterId, Cordon])[];
  /** Absent in ledgers made by older versions: they adopt nothing. */
  readonly adoption?: AdoptionWindow | undefined;
  /** The latest durable time: after a restart, the ledger's time continues from here at the earliest. */
  readonly time: Instant;
  /** Soft state: the newest advertisement of each cluster, as far as it was written. */
  readonly advertisements: readonly ReceivedAdvertisement[];
}

/** Builds a ledger from stored records. Every cluster counts as seen at `now`, so that no requester is lost right after a restart. */
export function ledgerFrom(records: LedgerRecords, wallClock: Instant): Ledger {
  const ledger = emptyLedger();
  // The wall clock may have gone back while the broker was down: time continues from the last commit.
  const now = Math.max(wallClock, records.time);
  ledger.time = records.time;
  ledger.adoption = records.adoption;
  for (const reservation of records.reservations) putReservation(ledger, reservation, now);
  for (const closedKey of records.closedKeys) closeKey(ledger, closedKey);
  for (const [clusterId, cordon] of records.cordons) setCordon(ledger, clusterId, cordon);
  for (const received of records.advertisements) {
    const receivedAt = Math.min(received.receivedAt, now);
    putAdvertisement(ledger, accountOf(ledger, received.advertisement.clusterId, now), {
      ...received,
      receivedAt,
    });
  }
  return ledger;
}
