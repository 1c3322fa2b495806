import type { Advertisement } from "../advertisement/advertisement.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { add, subtract } from "../resources/resource-vector.ts";
import {
  type ClusterAccount,
  type Holds,
  holdOf,
  type ReceivedAdvertisement,
  reservedOf,
  standingOf,
  usageById,
} from "./account.ts";
import { applyOffer, withdrawOffer } from "./adoption.ts";
import { type ClosedKey, isSoft, type LedgerEvent } from "./event.ts";
import { deadlineOf, evolve } from "./evolve.ts";
import { accountOf, hasAdvertised, holdsOf, keyName, type Ledger } from "./ledger.ts";

const REPLACED_INSTANCES_KEPT = 8;

/** Makes an event true. The only code that changes a ledger; deterministic, so that every copy agrees. */
export function apply(ledger: Ledger, event: LedgerEvent): void {
  if (!isSoft(event)) ledger.time = Math.max(ledger.time, event.at);
  switch (event.kind) {
    case "advertised":
      return advertise(ledger, event.advertisement, event.at);
    case "granted":
      hear(ledger, event.reservation, event.at);
      return record(ledger, event.reservation, event.at);
    case "adopted":
      return record(ledger, event.reservation, event.at);
    case "activated":
    case "renewed":
    case "acknowledged":
    case "ended":
    case "retained": {
      const reservation = ledger.reservations.get(event.id);
      if (reservation === undefined) throw new Error(`no reservation ${event.id} to apply ${event.kind} to`);
      if (event.kind === "activated" || event.kind === "renewed") hear(ledger, reservation, event.at);
      return record(ledger, evolve(reservation, event), event.at);
    }
    case "forgotten":
      return forget(ledger, event.id);
    case "key-closed":
      return closeKey(ledger, event.closedKey);
    case "key-reopened":
      return reopenKey(ledger, event.requester, event.key);
    case "cordoned":
      accountOf(ledger, event.clusterId, event.at).cordon = event.cordon;
      return;
    case "uncordoned":
      accountOf(ledger, event.clusterId, event.at).cordon = undefined;
      return;
    case "adoption-offered":
      return applyOffer(ledger, event);
    case "adoption-withdrawn":
      return withdrawOffer(ledger, event.by, event.id);
    case "refused":
      return;
  }
}

/** Whoever asks is not lost. */
function hear(ledger: Ledger, { requester }: Reservation, at: Instant): void {
  accountOf(ledger, requester, at).heardAt = at;
}

export function record(ledger: Ledger, reservation: Reservation, at: Instant): void {
  const provider = accountOf(ledger, reservation.provider, at);
  const requester = accountOf(ledger, reservation.requester, at);
  changeHold(provider, { id: reservation.id, holds: holdsOf(ledger, provider) }, () => {
    ledger.reservations.set(reservation.id, reservation);
    if (isLive(reservation.phase)) provider.lending.set(reservation.id, reservation);
    else provider.lending.delete(reservation.id);
  });
  changeLoan(requester, reservation);
  if (reservation.key !== undefined)
    ledger.keys.set(keyName(reservation.requester, reservation.key), reservation.id);
  if (reservation.reason === "ProviderRefused") rememberRefusal(provider, reservation);
  setDeadline(ledger, reservation);
  withdrawOffer(ledger, reservation.requester, reservation.id);
  withdrawOffer(ledger, reservation.provider, reservation.id);
}

export function closeKey(ledger: Ledger, closedKey: ClosedKey): void {
  const id = keyName(closedKey.requester, closedKey.key);
  if (!ledger.closedKeys.has(id)) accountOf(ledger, closedKey.requester, ledger.time).closedKeyCount++;
  ledger.closedKeys.set(id, closedKey);
  ledger.deadlines.set({ at: closedKey.until, kind: "closed-key", id });
}

function advertise(ledger: Ledger, advertisement: Advertisement, at: Instant): void {
  const account = accountOf(ledger, advertisement.clusterId, at);
  const replaced = account.advertisement?.instance;
  const isReplaced = replaced !== undefined && replaced !== advertisement.instance;
  const replacedInstances = isReplaced
    ? [replaced, ...account.replacedInstances].slice(0, REPLACED_INSTANCES_KEPT)
    : account.replacedInstances;
  account.heardAt = at;
  receive(ledger, account, { advertisement, receivedAt: at, replacedInstances });
}

/** Puts an advertisement in force and recomputes what is derived from it. */
export function receive(ledger: Ledger, account: ClusterAccount, received: ReceivedAdvertisement): void {
  const isFirst = !hasAdvertised(account);
  account.advertisement = received.advertisement;
  account.receivedAt = received.receivedAt;
  account.replacedInstances = received.replacedInstances;
  account.usage = usageById(received.advertisement);
  account.reserved = reservedOf(holdsOf(ledger, account));
  updateStanding(account);
  if (isFirst && hasAdvertised(account)) ledger.candidates.push(account);
}

function forget(ledger: Ledger, id: ReservationId): void {
  const reservation = ledger.reservations.get(id);
  if (reservation === undefined) return;
  const provider = accountOf(ledger, reservation.provider, ledger.time);
  changeHold(provider, { id, holds: holdsOf(ledger, provider) }, () => ledger.reservations.delete(id));
  forgetRefusal(provider, reservation);
  returnLoan(accountOf(ledger, reservation.requester, ledger.time), id);
  ledger.deadlines.remove("reservation", id);
  const name = reservation.key === undefined ? undefined : keyName(reservation.requester, reservation.key);
  if (name !== undefined && ledger.keys.get(name) === id) ledger.keys.delete(name);
}

function rememberRefusal(provider: ClusterAccount, reservation: Reservation): void {
  provider.refused = new Map(provider.refused).set(reservation.id, reservation);
}

function forgetRefusal(provider: ClusterAccount, { id }: Reservation): void {
  if (provider.refused?.has(id) !== true) return;
  const left = new Map(provider.refused);
  left.delete(id);
  provider.refused = left.size === 0 ? undefined : left;
}

function reopenKey(ledger: Ledger, requester: ClusterId, key: string): void {
  const id = keyName(requester, key);
  if (ledger.closedKeys.delete(id)) accountOf(ledger, requester, ledger.time).closedKeyCount--;
  ledger.deadlines.remove("closed-key", id);
}

interface Hold {
  readonly id: ReservationId;
  readonly holds: Holds;
}

/** Replaces exactly one reservation's term in the provider's sum: constant cost however many it lends. */
function changeHold(provider: ClusterAccount, hold: Hold, change: () => void): void {
  const { id, holds } = hold;
  const before = holdOf(id, holds);
  change();
  provider.reserved = add(subtract(provider.reserved, before), holdOf(id, holds));
  updateStanding(provider);
}

function changeLoan(requester: ClusterAccount, reservation: Reservation): void {
  returnLoan(requester, reservation.id);
  if (isLive(reservation.phase)) {
    requester.borrowing.set(reservation.id, reservation);
    requester.borrowed = add(requester.borrowed, reservation.granted);
  } else {
    requester.returned.set(reservation.id, reservation);
    requester.borrowedBefore = add(requester.borrowedBefore, reservation.granted);
  }
  updateStanding(requester);
}

/** Takes a loan off the requester's page, wherever it stands. */
function returnLoan(requester: ClusterAccount, id: ReservationId): void {
  const live = requester.borrowing.get(id);
  if (live !== undefined) requester.borrowed = subtract(requester.borrowed, live.granted);
  requester.borrowing.delete(id);
  const past = requester.returned.get(id);
  if (past !== undefined) requester.borrowedBefore = subtract(requester.borrowedBefore, past.granted);
  requester.returned.delete(id);
  updateStanding(requester);
}

function updateStanding(account: ClusterAccount): void {
  if (account.advertisement === undefined) return;
  const standing = standingOf(account.advertisement, account);
  account.available = standing.available;
  account.overcommitted = standing.overcommitted;
}

function setDeadline(ledger: Ledger, reservation: Reservation): void {
  const at = deadlineOf(reservation);
  if (at === undefined) ledger.deadlines.remove("reservation", reservation.id);
  else ledger.deadlines.set({ at, kind: "reservation", id: reservation.id });
}
