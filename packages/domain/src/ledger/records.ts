import type { ClusterId, Instant } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Cordon } from "../scheduling/candidate-table.ts";
import type { ReceivedAdvertisement } from "./account.ts";
import type { AdoptionWindow } from "./adoption-window.ts";
import { closeKey, putAdvertisement, putReservation, setCordon, setMember } from "./apply.ts";
import type { ClosedKey } from "./event.ts";
import { deadlineOf } from "../reservation/under-notice.ts";
import { putWaiting, setWaitingDeadline } from "../queue/apply-queue.ts";
import type { ClosedDay } from "../queue/charges.ts";
import type { Waiting } from "../queue/waiting.ts";
import type { Member } from "./member.ts";
import { accountOf, emptyLedger, type Ledger } from "./ledger.ts";

/** Everything a store must keep. The rest of the ledger is derived from it. */
export interface LedgerRecords {
  readonly reservations: readonly Reservation[];
  readonly closedKeys: readonly ClosedKey[];
  readonly cordons: readonly (readonly [ClusterId, Cordon])[];
  readonly members: readonly Member[];
  readonly waiting: readonly Waiting[];
  readonly closedDays: readonly ClosedDay[];
  /** Absent in ledgers made by older versions: they adopt nothing. */
  readonly adoption?: AdoptionWindow | undefined;
  /** The latest durable time: after a restart, the ledger's time continues from here at the earliest. */
  readonly time: Instant;
  /** Soft state: the newest advertisement of each cluster, as far as it was written. */
  readonly advertisements: readonly ReceivedAdvertisement[];
}

/**
 * Builds a ledger from stored records. Every cluster counts as seen at `now`, so that no requester is lost right after a
 * restart. For `waitGraceMs` no request that waits fails, no activation times out, and no notice ends: the clusters have to
 * speak first.
 */
export function ledgerFrom(
  records: LedgerRecords,
  wallClock: Instant,
  waitGraceMs = Number.NEGATIVE_INFINITY,
): Ledger {
  const ledger = emptyLedger();
  // The wall clock may have gone back while the broker was down: time continues from the last commit.
  const now = Math.max(wallClock, records.time);
  ledger.time = records.time;
  ledger.adoption = records.adoption;
  ledger.startedAt = now;
  const timing = [...records.reservations.filter(isTimed), ...records.waiting];
  ledger.spared = { ids: new Set(timing.map(({ id }) => id)), until: now + waitGraceMs };
  for (const member of records.members) setMember(ledger, member);
  for (const reservation of records.reservations) putReservation(ledger, reservation, now);
  for (const entry of records.waiting) {
    accountOf(ledger, entry.requester, now);
    putWaiting(ledger, entry);
  }
  for (const closedDay of records.closedDays) ledger.closedDays.set(closedDay.day, closedDay);
  for (const closedKey of records.closedKeys) closeKey(ledger, closedKey);
  for (const [clusterId, cordon] of records.cordons) setCordon(ledger, clusterId, cordon);
  for (const received of records.advertisements) {
    const receivedAt = Math.min(received.receivedAt, now);
    putAdvertisement(ledger, accountOf(ledger, received.advertisement.clusterId, now), {
      ...received,
      receivedAt,
    });
  }
  ledger.isSettled = ledger.waiting.pendingCount === 0;
  return ledger;
}

/**
 * Another policy is in force: what `ledgerFrom` has spared for a while is spared for so long after the start. Deadlines that are
 * over then are due at once.
 */
export function spareFor(ledger: Ledger, waitGraceMs: number): void {
  const { ids } = ledger.spared;
  const until = ledger.startedAt + waitGraceMs;
  if (until === ledger.spared.until) return;
  ledger.spared = { ids, until };
  for (const id of ids) {
    const reservation = ledger.reservations.get(id);
    if (reservation !== undefined) ledger.deadlines.update("reservation", id, deadlineOf(reservation, until));
    const entry = ledger.waiting.byId.get(id);
    if (entry !== undefined) setWaitingDeadline(ledger, entry);
  }
}

/** It is under notice, or has to be activated. */
function isTimed({ phase, preemption, activateBy }: Reservation): boolean {
  return isLive(phase) && (preemption !== undefined || (phase === "Reserved" && activateBy !== undefined));
}
