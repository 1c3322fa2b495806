import type { Advertisement } from "../advertisement/advertisement.ts";
import type { Instant } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { applyOffer, withdrawOffer } from "./adoption.ts";
import {
  closeKey,
  putAdvertisement,
  putReservation,
  removeReservation,
  reopenKey,
  setCordon,
} from "./entries.ts";
import { isSoft, type LedgerEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import { accountOf, type Ledger } from "./ledger.ts";

const REPLACED_INSTANCES_KEPT = 8;

/** Applies an event. The only code that changes a ledger; deterministic, so that all copies are equal. */
export function apply(ledger: Ledger, event: LedgerEvent): void {
  if (!isSoft(event)) ledger.time = Math.max(ledger.time, event.at);
  switch (event.kind) {
    case "advertised":
      return advertise(ledger, event.advertisement, event.at);
    case "granted":
      markSeen(ledger, event.reservation, event.at);
      return putReservation(ledger, event.reservation, event.at);
    case "adopted":
      return putReservation(ledger, event.reservation, event.at);
    case "activated":
    case "renewed":
    case "acknowledged":
    case "ended":
    case "retained": {
      const reservation = ledger.reservations.get(event.id);
      if (reservation === undefined) throw new Error(`no reservation ${event.id} to apply ${event.kind} to`);
      if (event.kind === "activated" || event.kind === "renewed") markSeen(ledger, reservation, event.at);
      return putReservation(ledger, evolve(reservation, event), event.at);
    }
    case "forgotten":
      return removeReservation(ledger, event.id);
    case "key-closed":
      return closeKey(ledger, event.closedKey);
    case "key-reopened":
      return reopenKey(ledger, event.requester, event.key);
    case "cordoned":
      return setCordon(ledger, event.clusterId, event.cordon);
    case "uncordoned":
      return setCordon(ledger, event.clusterId, undefined);
    case "adoption-offered":
      return applyOffer(ledger, event);
    case "adoption-withdrawn":
      return withdrawOffer(ledger, event.by, event.id);
    case "adoption-window-set":
      ledger.adoption = event.window;
      return;
    case "refused":
      return;
  }
}

/** A call from the requester shows that it is alive. */
function markSeen(ledger: Ledger, { requester }: Reservation, at: Instant): void {
  accountOf(ledger, requester, at).lastSeenAt = at;
}

function advertise(ledger: Ledger, advertisement: Advertisement, at: Instant): void {
  const account = accountOf(ledger, advertisement.clusterId, at);
  const replaced = account.advertisement?.instance;
  const isReplaced = replaced !== undefined && replaced !== advertisement.instance;
  const replacedInstances = isReplaced
    ? [replaced, ...account.replacedInstances].slice(0, REPLACED_INSTANCES_KEPT)
    : account.replacedInstances;
  account.lastSeenAt = at;
  putAdvertisement(ledger, account, { advertisement, receivedAt: at, replacedInstances });
}
