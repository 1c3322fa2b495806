import { add, type ResourceVector, subtract } from "@resource-broker/base";
import { type Advertisement, offersAlike } from "../advertisement/advertisement.ts";
import { totalPrice } from "../cost/price.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isLive, type LifecycleEvent, nextPhase } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { deadlineOf, noticeFor, withNotice } from "../reservation/under-notice.ts";
import type { Cordon } from "../scheduling/candidate-table.ts";
import {
  type ClusterAccount,
  countReservations,
  type ReceivedAdvertisement,
  reservedFor,
  totalReserved,
  usageById,
} from "./account.ts";
import { applyToQueue, countForTenant, removeWaiting } from "../queue/apply-queue.ts";
import { hasPending } from "../queue/waiting.ts";
import { applyOffer, withdrawOffer } from "./adoption.ts";
import { type ClosedKey, isSoft, type LedgerEvent } from "./event.ts";
import { accountOf, keyName, type Ledger, providerReservations, refreshAccount, unsettle } from "./ledger.ts";
import { moveClaim } from "./liqo-claims.ts";
import type { Member } from "./member.ts";
import { sparedUntil } from "./spared.ts";

/** Retention of ended reservations and of their keys. */
export const ENDED_RETENTION_MS = 24 * 60 * 60 * 1000;

/** Events that change one reservation. */
export type ReservationEvent = Extract<
  LedgerEvent,
  { readonly kind: "activated" | "renewed" | "acknowledged" | "ended" | "retained" | NoticeKind }
>;

type NoticeKind = "preempting" | "reprieved" | "resumed";

/** The reservation after the event. Throws where the lifecycle forbids it: `decide` never emits such an event. */
export function evolve(reservation: Reservation, event: ReservationEvent): Reservation {
  switch (event.kind) {
    case "activated":
      return { ...advance(reservation, "activate"), activatedAt: event.at };
    case "renewed":
      return {
        ...advance(reservation, "renew"),
        expiresAt: event.expiresAt,
        ...renewedCost(reservation, event),
      };
    case "acknowledged":
      return { ...advance(reservation, "acknowledge"), acknowledged: true };
    case "ended":
      return {
        ...advance(reservation, event.reason),
        reason: event.reason,
        ...(event.message === undefined ? {} : { message: event.message }),
        endedAt: event.at,
        keepUntil: event.at + ENDED_RETENTION_MS,
      };
    case "retained":
      return { ...reservation, keepUntil: event.until };
    case "resumed":
      return { ...reservation, resumedBy: event.by };
    case "preempting":
      return withNotice(reservation, noticeFor(event, event.until));
    case "reprieved":
      return withNotice(reservation, undefined);
  }
}

/** The total cost after a renewal. */
function renewedCost({ cost, reservedAt }: Reservation, { expiresAt }: { readonly expiresAt: Instant }) {
  if (cost === undefined) return {};
  return { cost: { ...cost, total: totalPrice(cost.perHour, expiresAt - reservedAt) } };
}

function advance(reservation: Reservation, event: LifecycleEvent): Reservation {
  const phase = nextPhase(reservation.phase, event);
  if (phase === undefined) throw new Error(`${reservation.id} is ${reservation.phase}: cannot ${event}`);
  return { ...reservation, phase, generation: reservation.generation + 1 };
}

const REPLACED_INSTANCES_KEPT = 8;

/** Applies an event. The only code that changes a ledger; deterministic, so that all copies are equal. */
export function apply(ledger: Ledger, event: LedgerEvent): void {
  if (!isSoft(event)) ledger.time = Math.max(ledger.time, event.at);
  switch (event.kind) {
    case "advertised":
      if (event.wasStale === true) unsettle(ledger);
      return advertise(ledger, event.advertisement, event.at);
    case "granted":
      if (!ledger.waiting.byId.has(event.reservation.id)) markSeen(ledger, event.reservation, event.at);
      return putReservation(ledger, event.reservation, event.at);
    case "adopted":
      return putReservation(ledger, event.reservation, event.at);
    case "activated":
    case "renewed":
    case "acknowledged":
    case "ended":
    case "retained":
    case "preempting":
    case "reprieved":
    case "resumed": {
      const reservation = ledger.reservations.get(event.id);
      if (reservation === undefined) throw new Error(`no reservation ${event.id} to apply ${event.kind} to`);
      if (event.kind === "activated" || event.kind === "renewed") markSeen(ledger, reservation, event.at);
      return putReservation(ledger, evolve(reservation, event), event.at);
    }
    case "queued":
      markSeen(ledger, event.waiting, event.at);
      return applyToQueue(ledger, event);
    case "unqueued":
    case "nominated":
    case "nomination-lapsed":
    case "settled":
    case "day-closed":
      return applyToQueue(ledger, event);
    case "forgotten":
      removeWaiting(ledger, event.id);
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
      return void (ledger.adoption = event.window);
    case "member-invited":
    case "member-enrolled":
    case "member-accepted":
    case "member-bound":
    case "member-evicted":
      return setMember(ledger, event.member);
    case "refused":
      return;
  }
}

/** A call from the requester shows that it is alive; a grant from the queue is no call. */
function markSeen(ledger: Ledger, { requester }: Pick<Reservation, "requester">, at: Instant): void {
  const account = accountOf(ledger, requester, at);
  // Its waiting requests may have been passed over meanwhile.
  const wasSilent = at - account.lastSeenAt > SILENCE_MS && hasPending(ledger.waiting, requester);
  account.lastSeenAt = at;
  if (wasSilent) unsettle(ledger);
}

/** Shorter than any silence for which waiting requests are passed over. */
const SILENCE_MS = 1000;

function advertise(ledger: Ledger, advertisement: Advertisement, at: Instant): void {
  const account = accountOf(ledger, advertisement.clusterId, at);
  const replaced = account.advertisement?.instance;
  const isReplaced = replaced !== undefined && replaced !== advertisement.instance;
  const replacedInstances = isReplaced
    ? [replaced, ...account.replacedInstances].slice(0, REPLACED_INSTANCES_KEPT)
    : account.replacedInstances;
  account.lastSeenAt = at;
  if (!offersAlike(account.advertisement, advertisement)) unsettle(ledger);
  putAdvertisement(ledger, account, { advertisement, receivedAt: at, replacedInstances });
}

/** Writes a reservation to the ledger and to both accounts. */
export function putReservation(ledger: Ledger, reservation: Reservation, at: Instant): void {
  const { id, key } = reservation;
  removeWaiting(ledger, id);
  const provider = accountOf(ledger, reservation.provider, at);
  const requester = accountOf(ledger, reservation.requester, at);
  const before = currentlyReserved(ledger, provider, id);
  const countedBefore = isCounted(provider, id);
  const known = ledger.reservations.get(id);
  ledger.reservations.set(id, reservation);
  if (isLive(reservation.phase)) provider.asProvider.set(id, reservation);
  else provider.asProvider.delete(id);
  provider.reservationCount += Number(isCounted(provider, id)) - Number(countedBefore);
  replaceReserved(provider, before, currentlyReserved(ledger, provider, id));
  countForTenant(ledger, known, -1);
  countForTenant(ledger, reservation, 1);
  addToRequester(requester, reservation);
  if (key !== undefined) ledger.keys.set(keyName(reservation.requester, key), id);
  if (reservation.reason === "ProviderRefused")
    provider.refused = new Map(provider.refused).set(id, reservation);
  ledger.deadlines.update("reservation", id, deadlineOf(reservation, sparedUntil(ledger, id)));
  withdrawOffer(ledger, reservation.requester, id);
  withdrawOffer(ledger, reservation.provider, id);
  refreshAccount(ledger, provider);
  refreshAccount(ledger, requester);
}

/** Removes an ended reservation from the ledger and from both accounts. */
function removeReservation(ledger: Ledger, id: ReservationId): void {
  const reservation = ledger.reservations.get(id);
  if (reservation === undefined) return;
  const provider = accountOf(ledger, reservation.provider, ledger.time);
  const requester = accountOf(ledger, reservation.requester, ledger.time);
  const before = currentlyReserved(ledger, provider, id);
  ledger.reservations.delete(id);
  countForTenant(ledger, reservation, -1);
  replaceReserved(provider, before, currentlyReserved(ledger, provider, id));
  removeFromRequester(requester, id);
  const name = reservation.key === undefined ? undefined : keyName(reservation.requester, reservation.key);
  if (name !== undefined && ledger.keys.get(name) === id) ledger.keys.delete(name);
  removeRefusal(provider, id);
  ledger.deadlines.remove("reservation", id);
  refreshAccount(ledger, provider);
  refreshAccount(ledger, requester);
}

/** Stores an advertisement in its account. */
export function putAdvertisement(
  ledger: Ledger,
  account: ClusterAccount,
  received: ReceivedAdvertisement,
): void {
  moveClaim(ledger, account.advertisement, received.advertisement);
  account.advertisement = received.advertisement;
  account.receivedAt = received.receivedAt;
  account.replacedInstances = received.replacedInstances;
  account.usage = usageById(received.advertisement);
  account.reserved = totalReserved(providerReservations(ledger, account));
  account.reservationCount = countReservations(account);
  refreshAccount(ledger, account);
}

export function setCordon(ledger: Ledger, clusterId: ClusterId, cordon: Cordon | undefined): void {
  const account = accountOf(ledger, clusterId, ledger.time);
  account.cordon = cordon;
  // One that waits for this cluster must look elsewhere, or finds it open again.
  unsettle(ledger);
  refreshAccount(ledger, account);
}

export function setMember(ledger: Ledger, member: Member): void {
  ledger.members.set(member.clusterId, member);
  const account = ledger.accounts.get(member.clusterId);
  if (account === undefined) return;
  if (account.evictedAt !== undefined && member.evictedAt === undefined) unsettle(ledger);
  account.evictedAt = member.evictedAt;
  refreshAccount(ledger, account);
}

export function closeKey(ledger: Ledger, closedKey: ClosedKey): void {
  const id = keyName(closedKey.requester, closedKey.key);
  if (!ledger.closedKeys.has(id)) accountOf(ledger, closedKey.requester, ledger.time).closedKeyCount++;
  ledger.closedKeys.set(id, closedKey);
  ledger.deadlines.set({ at: closedKey.until, kind: "closed-key", id });
}

function reopenKey(ledger: Ledger, requester: ClusterId, key: string): void {
  const id = keyName(requester, key);
  if (ledger.closedKeys.delete(id)) accountOf(ledger, requester, ledger.time).closedKeyCount--;
  ledger.deadlines.remove("closed-key", id);
}

function isCounted({ asProvider, usage }: ClusterAccount, id: ReservationId): boolean {
  return asProvider.has(id) || usage.has(id);
}

function currentlyReserved(ledger: Ledger, provider: ClusterAccount, id: ReservationId): ResourceVector {
  return reservedFor(id, providerReservations(ledger, provider));
}

/** Replaces one reservation's part of the provider's sum, in constant time. */
function replaceReserved(provider: ClusterAccount, before: ResourceVector, after: ResourceVector): void {
  provider.reserved = add(subtract(provider.reserved, before), after);
}

function addToRequester(requester: ClusterAccount, reservation: Reservation): void {
  const { id, granted, phase } = reservation;
  removeFromRequester(requester, id);
  if (isLive(phase)) {
    requester.asRequester.set(id, reservation);
    requester.grantedAsRequester = add(requester.grantedAsRequester, granted);
  } else {
    requester.endedAsRequester.set(id, reservation);
    requester.grantedBefore = add(requester.grantedBefore, granted);
  }
}

function removeFromRequester(requester: ClusterAccount, id: ReservationId): void {
  const live = requester.asRequester.get(id);
  if (live !== undefined) requester.grantedAsRequester = subtract(requester.grantedAsRequester, live.granted);
  requester.asRequester.delete(id);
  const past = requester.endedAsRequester.get(id);
  if (past !== undefined) requester.grantedBefore = subtract(requester.grantedBefore, past.granted);
  requester.endedAsRequester.delete(id);
}

function removeRefusal(provider: ClusterAccount, id: ReservationId): void {
  if (provider.refused?.has(id) !== true) return;
  const left = new Map(provider.refused);
  left.delete(id);
  provider.refused = left.size === 0 ? undefined : left;
}
