import { NO_RESOURCES } from "@resource-broker/base";
import type { LedgerEvent } from "../ledger/event.ts";
import { accountOf, keyName, type Ledger, refreshAccount, unsettle } from "../ledger/ledger.ts";
import { sparedUntil } from "../ledger/spared.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Kept } from "../scheduling/candidate-table.ts";
import { countCharges, hasCharges, newCharges, utcDay } from "./charges.ts";
import { closeDay } from "./closed-days.ts";
import { isHeldOpen, letsSomebodyIn, roomAt } from "./kept.ts";
import { NOTHING_HELD, withGranted } from "./tenants.ts";
import { leaveQueue, nominate, type Waiting } from "./waiting.ts";

type QueueEvent = Extract<
  LedgerEvent,
  { readonly kind: "queued" | "unqueued" | "nominated" | "nomination-lapsed" | "settled" | "day-closed" }
>;

/** Applies an event that is about waiting requests or their tenants. */
export function applyToQueue(ledger: Ledger, event: QueueEvent): void {
  if (event.kind === "settled") return settle(ledger, event);
  if (event.kind === "day-closed") return closeDay(ledger, event);
  if (event.kind === "queued") return beginToWait(ledger, event);
  const entry = ledger.waiting.byId.get(event.id);
  if (entry === undefined) throw new Error(`no waiting request ${event.id} to apply ${event.kind} to`);
  return putWaiting(ledger, event.kind === "unqueued" ? leaveQueue(entry, event) : nominate(entry, event));
}

/** Replaces the plans. Only accounts whose plan changes are written. */
function settle(ledger: Ledger, event: Extract<LedgerEvent, { readonly kind: "settled" }>): void {
  const { at, plans, looked = [], turns = [], rooms = [] } = event;
  const isSettled = !letsSomebodyIn(ledger, event);
  for (const id of ledger.plans.keys()) dropPlan(ledger, id);
  for (const plan of plans) {
    ledger.plans.set(plan.id, plan);
    // A look may be ahead of the commit that ends a nomination, and that commit may fail.
    if (!isNominatedTo(ledger, plan.provider)) keep(ledger, plan.provider, plan);
  }
  for (const { kept } of ledger.accounts.values()) {
    if (kept !== undefined && isHeldOpen(kept)) keepRoom(ledger, kept, roomAt(rooms, kept.provider));
  }
  ledger.turns = turns;
  ledger.looked = looked;
  ledger.isSettled = isSettled;
  ledger.settledOn = utcDay(at);
}

/** The first one was decided a moment ago: nothing has changed since. */
function beginToWait(
  ledger: Ledger,
  { at, waiting }: Extract<LedgerEvent, { readonly kind: "queued" }>,
): void {
  if (ledger.waiting.pendingCount === 0) ledger.settledOn = utcDay(at);
  putWaiting(ledger, waiting);
}

function isNominatedTo({ accounts }: Ledger, provider: ClusterId): boolean {
  const kept = accounts.get(provider)?.kept;
  return kept !== undefined && kept.from === undefined;
}

function keepRoom(ledger: Ledger, kept: Kept, roomBy: Instant | undefined): void {
  if (kept.roomBy === roomBy) return;
  const { roomBy: _, ...rest } = kept;
  keep(ledger, kept.provider, roomBy === undefined ? rest : { ...rest, roomBy });
}

function dropPlan(ledger: Ledger, id: ReservationId): void {
  const plan = ledger.plans.get(id);
  if (plan === undefined) return;
  ledger.plans.delete(id);
  if (ledger.accounts.get(plan.provider)?.kept?.id === id) keep(ledger, plan.provider, undefined);
}

function keep(ledger: Ledger, provider: ClusterId, kept: Kept | undefined): void {
  const account = accountOf(ledger, provider, ledger.time);
  account.kept = kept;
  refreshAccount(ledger, account);
}

/** What is no longer kept for one may be for another. */
function dropKept(ledger: Ledger, { id, nominated }: Waiting): void {
  if (ledger.plans.has(id)) unsettle(ledger);
  dropPlan(ledger, id);
  if (nominated === undefined) return;
  const { provider } = nominated;
  if (ledger.accounts.get(provider)?.kept?.id === id)
    keep(
      ledger,
      provider,
      [...ledger.plans.values()].find((plan) => plan.provider === provider),
    );
  unsettle(ledger);
}

function keepForNominated(
  ledger: Ledger,
  { id, nominated, request: { priority, resources } }: Waiting,
): void {
  if (nominated === undefined) return;
  const { provider, victims } = nominated;
  const notice = victims === undefined ? {} : { victims };
  keep(ledger, provider, { id, provider, priority, resources, returning: NO_RESOURCES, ...notice });
}

/** Writes a request that waits, or has left the queue without a grant. */
export function putWaiting(ledger: Ledger, entry: Waiting): void {
  const before = ledger.waiting.byId.get(entry.id);
  if (before !== undefined) dropKept(ledger, before);
  ledger.waiting.put(entry);
  keepForNominated(ledger, entry);
  if (ledger.waiting.pendingCount === 0) ledger.isSettled = true;
  ledger.keys.set(keyName(entry.requester, entry.key), entry.id);
  setWaitingDeadline(ledger, entry);
}

/** It fails then, or is forgotten if it has left the queue. */
export function setWaitingDeadline(ledger: Ledger, { id, until, keepUntil }: Waiting): void {
  const at = keepUntil ?? Math.max(until, sparedUntil(ledger, id));
  ledger.deadlines.set({ at, kind: "waiting", id });
}

export function removeWaiting(ledger: Ledger, id: ReservationId): void {
  const entry = ledger.waiting.byId.get(id);
  if (entry === undefined) return;
  dropKept(ledger, entry);
  ledger.waiting.remove(id);
  if (ledger.waiting.pendingCount === 0) ledger.isSettled = true;
  ledger.deadlines.remove("waiting", id);
  const name = keyName(entry.requester, entry.key);
  if (ledger.keys.get(name) === id) ledger.keys.delete(name);
}

/** Adds a reservation to what its tenant is charged and, while it is live, to what the tenant holds; or takes it out. */
export function countForTenant(ledger: Ledger, reservation: Reservation | undefined, count: 1 | -1): void {
  if (reservation === undefined) return;
  const { tenant = reservation.requester, granted, cost, phase } = reservation;
  if (cost !== undefined) charge(ledger, tenant, { reservation, count });
  if (!isLive(phase)) return;
  const account = withGranted(ledger.tenants.get(tenant) ?? NOTHING_HELD, granted, count);
  if (account.reservations === 0) ledger.tenants.delete(tenant);
  else ledger.tenants.set(tenant, account);
  // The tenant may hold more again.
  if (count === -1) unsettle(ledger);
}

function charge(
  ledger: Ledger,
  tenant: string,
  { reservation, count }: { readonly reservation: Reservation; readonly count: 1 | -1 },
): void {
  const charges = ledger.charges.get(tenant) ?? newCharges();
  countCharges(charges, reservation, count);
  if (hasCharges(charges)) ledger.charges.set(tenant, charges);
  else ledger.charges.delete(tenant);
}
