import { add, fits, isZero, type ResourceVector, subtract } from "@resource-broker/base";
import { reservedFor } from "../ledger/account.ts";
import type { DecisionContext, Outcome } from "../ledger/command.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import { type LedgerView, providerReservations } from "../ledger/ledger.ts";
import type { ReservationId } from "../reservation/ids.ts";
import { isFinal, isLive } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { isDrained } from "../reservation/under-notice.ts";
import type { Victim } from "../scheduling/decision.ts";
import { barredBy } from "./passed-over.ts";
import { suitability } from "./plans.ts";
import { tenantOf } from "./tenants.ts";
import { freeOf } from "./timeline.ts";
import type { Waiting } from "./waiting.ts";

/** After its last victim ended, capacity has this long to appear. */
const LAPSES_AFTER_MS = 10 * 60_000;

export function victimOf({ id, request, reservedAt }: Reservation, frees: ResourceVector): Victim {
  return { id, priority: request.priority, tier: request.tier, reservedAt, frees };
}

/** Who gives way first comes first: the lowest priority, of equals the youngest. */
function compareVictims(a: Victim, b: Victim): number {
  return a.priority - b.priority || b.reservedAt - a.reservedAt || (a.id < b.id ? -1 : 1);
}

/** What a request asks for, and what is there for it without any victim: below zero where more is promised than there is. */
export interface Need {
  readonly resources: ResourceVector;
  readonly free: ResourceVector;
}

/**
 * Those of the victims that must end: in order until the request fits, and then the most important are given back first
 * where the others suffice. Undefined: all together are not enough.
 */
export function neededOf(victims: readonly Victim[], { resources, free }: Need): Victim[] | undefined {
  let total = free;
  const chosen: Victim[] = [];
  for (const victim of [...victims].sort(compareVictims)) {
    if (fits(resources, total)) break;
    total = add(total, victim.frees);
    chosen.push(victim);
  }
  if (!fits(resources, total)) return undefined;
  const needed = new Set(chosen);
  for (const victim of chosen.toReversed()) {
    const without = subtract(total, victim.frees);
    if (!fits(resources, without)) continue;
    total = without;
    needed.delete(victim);
  }
  return chosen.filter((victim) => needed.has(victim));
}

/** The reservations that got notice for this request and were not reprieved: live, or ended since. */
export function victimsFor(ledger: LedgerView, { id, nominated }: Waiting): Reservation[] {
  return (nominated?.victims ?? []).flatMap((victim) => {
    const reservation = ledger.reservations.get(victim);
    return reservation?.preemption?.by === id ? [reservation] : [];
  });
}

/** Those under notice for this request that it still needs, by ID. Undefined: even all of them are not enough. */
function stillNeeded(
  ledger: LedgerView,
  entry: Waiting,
  { policy }: DecisionContext,
): Set<ReservationId> | undefined {
  if (policy.preemption.victims === "none") return new Set();
  const account = ledger.accounts.get(entry.nominated?.provider ?? "");
  if (account === undefined) return undefined;
  const reservations = providerReservations(ledger, account);
  let free = freeOf(account);
  const victims: Victim[] = [];
  for (const victim of victimsFor(ledger, entry)) {
    const frees = reservedFor(victim.id, reservations);
    // What its pods still use comes back without another notice.
    if (isFinal(victim.phase)) free = add(free, frees);
    else victims.push(victimOf(victim, frees));
  }
  const needed = neededOf(victims, { resources: entry.request.resources, free });
  return needed && new Set(needed.map(({ id }) => id));
}

/** Notices that have become needless: less than all of the victims are enough now, or nobody has to give way any more. */
export function needlessNotices(ledger: LedgerView, context: DecisionContext): LedgerEvent[] {
  for (const entry of nominatedWithVictims(ledger)) {
    const live = victimsFor(ledger, entry).filter(({ phase }) => isLive(phase));
    const needed = live.length === 0 ? undefined : stillNeeded(ledger, entry, context);
    const needless = needed === undefined ? [] : live.filter(({ id }) => !needed.has(id));
    if (needless.length > 0) return needless.map(({ id }) => ({ kind: "reprieved", at: context.now, id }));
  }
  return [];
}

/** The requests for which others got notice. */
export function* nominatedWithVictims(ledger: LedgerView): Generator<Waiting> {
  for (const { kept } of ledger.accounts.values()) {
    const entry = kept?.victims === undefined ? undefined : ledger.waiting.byId.get(kept.id);
    if (entry !== undefined) yield entry;
  }
}

/** At its deadline a victim ends only for a request that can then be granted; or its provider is drained. */
export function dueNotice(ledger: LedgerView, victim: Reservation, context: DecisionContext): LedgerEvent {
  const { id } = victim;
  const message = isDrained(victim) ? drainText(ledger, victim) : endFor(ledger, victim, context);
  if (message === undefined) return { kind: "reprieved", at: context.now, id };
  return { kind: "ended", at: context.now, id, reason: "Preempted", message };
}

function drainText({ accounts }: LedgerView, { provider }: Reservation): string {
  const why = accounts.get(provider)?.cordon?.why;
  return `${provider} is drained${why === undefined ? "" : `: ${why}`}`;
}

/** Undefined: its request does not need it, or could not start even then. */
function endFor(
  ledger: LedgerView,
  { id, preemption }: Reservation,
  context: DecisionContext,
): string | undefined {
  const entry = ledger.waiting.byId.get(preemption?.by ?? "");
  if (entry === undefined || !mayStart(ledger, entry, context)) return undefined;
  if (stillNeeded(ledger, entry, context)?.has(id) !== true) return undefined;
  return `a request of priority ${entry.request.priority} that waited needs its capacity`;
}

/** Nothing but capacity keeps the request from its provider. */
function mayStart(ledger: LedgerView, entry: Waiting, context: DecisionContext): boolean {
  const { requester, namespace, nominated } = entry;
  const tenant = tenantOf(context.policy, requester, namespace);
  if (nominated === undefined || barredBy(ledger, { entry, tenant }, context) !== undefined) return false;
  const provider = ledger.candidateTable.candidates.find(({ clusterId }) => clusterId === nominated.provider);
  return provider !== undefined && suitability(ledger, entry, context)(provider);
}

/** True when notices were given in vain: all are withdrawn, or all victims have ended and there is no room yet. */
export function hasWaitedInVain(ledger: LedgerView, entry: Waiting, now: number): boolean {
  const ends = victimsFor(ledger, entry).map(({ endedAt }) => endedAt ?? Number.POSITIVE_INFINITY);
  return ends.length === 0 || now - Math.max(...ends) >= LAPSES_AFTER_MS;
}

/** Who no longer waits, or waits for another provider, needs no victims: they are reprieved in the same commit. */
export function withReprieves(ledger: LedgerView, outcome: Outcome, { now }: DecisionContext): Outcome {
  if (ledger.waiting.pendingCount === 0) return outcome;
  const leaving = outcome.events.flatMap((event) => entryLeaving(ledger, event) ?? []);
  const reprieved = new Set(
    leaving.flatMap((entry) => victimsFor(ledger, entry).filter(({ phase }) => isLive(phase))),
  );
  if (reprieved.size === 0) return outcome;
  const ids = new Set([...reprieved].map(({ id }) => id));
  const events = outcome.events.filter((event) => !isAboutNotice(event, ids));
  for (const event of events) if (event.kind === "ended") ids.delete(event.id);
  const added = [...ids].map((id) => ({ kind: "reprieved", at: now, id }) as const);
  return { ...outcome, events: [...events, ...added] };
}

/** What a sweep decided of a notice before it was known that the request leaves. */
function isAboutNotice(event: LedgerEvent, ids: ReadonlySet<ReservationId>): boolean {
  if (event.kind === "reprieved") return ids.has(event.id);
  return event.kind === "ended" && event.reason === "Preempted" && ids.has(event.id);
}

function entryLeaving(ledger: LedgerView, event: LedgerEvent): Waiting | undefined {
  switch (event.kind) {
    case "granted":
    case "adopted":
      return ledger.waiting.byId.get(event.reservation.id);
    case "unqueued":
    case "nomination-lapsed":
      return ledger.waiting.byId.get(event.id);
    default:
      return undefined;
  }
}

/** True when pods of ended reservations still use the provider. */
export function waitsForGuests(ledger: LedgerView, clusterId: string): boolean {
  const account = ledger.accounts.get(clusterId);
  if (account === undefined) return false;
  const { hasEnded } = providerReservations(ledger, account);
  for (const [id, { used }] of account.usage) if (hasEnded(id) && !isZero(used)) return true;
  return false;
}
