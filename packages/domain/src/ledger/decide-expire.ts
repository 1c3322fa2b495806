import { CALLS_PROTOCOL } from "../advertisement/advertisement.ts";
import { overBudget, schedulingFor } from "../queue/over-budget.ts";
import { closeDaysThatAreOver } from "../queue/closed-days.ts";
import { tenantOf } from "../queue/tenants.ts";
import { dueNotice } from "../queue/victims.ts";
import { pendingOf, type Waiting } from "../queue/waiting.ts";
import type { Instant, ReservationId } from "../reservation/ids.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { chooseProvider } from "../scheduling/choose-provider.ts";
import { headline } from "../scheduling/explain.ts";
import { parseOfferName } from "./adoption.ts";
import { ENDED_RETENTION_MS } from "./apply.ts";
import type { DecisionContext, Outcome } from "./command.ts";
import type { Deadline } from "./deadlines.ts";
import type { LedgerEvent } from "./event.ts";
import type { LedgerView } from "./ledger.ts";
import { sparedUntil } from "./spared.ts";

/** Maximum per sweep, so that many simultaneous expiries do not block other commands. */
const SWEEP_LIMIT = 1000;

/**
 * Ends reservations that are due. A lost requester has no deadline: with `requesterLostMs` set, the caller must also sweep
 * periodically, not only at the earliest deadline.
 */
export function decideExpireDue(ledger: LedgerView, { now, policy }: DecisionContext): Outcome {
  const due = ledger.deadlines.due(now, SWEEP_LIMIT);
  const notices = due.flatMap((deadline) => dueNoticeAt(ledger, deadline, now) ?? []);
  const others = notices.length === 0 ? due : due.filter(({ id }) => !notices.some((each) => each.id === id));
  const events = others.flatMap((deadline) => dueEvent(ledger, deadline, { now, policy }));
  const ending = new Set(
    events.flatMap((event) => (event.kind === "ended" || event.kind === "unqueued" ? [event.id] : [])),
  );
  const lost =
    policy.requesterLostMs === undefined
      ? []
      : lostRequesters(ledger, { now, lostAfterMs: policy.requesterLostMs, ending });
  const all = [...closeDaysThatAreOver(ledger, now), ...events, ...lost];
  // What ends otherwise may make a notice needless: it goes first.
  if (all.length === 0 && notices.length > 0) return endAfterNotice(ledger, notices, { now, policy });
  const hasMore = all.length >= SWEEP_LIMIT || notices.length > 0;
  return { events: all.slice(0, SWEEP_LIMIT), reply: { kind: "swept", hasMore } };
}

/** The reservation, if its notice is due and it has not expired before. */
function dueNoticeAt(ledger: LedgerView, { kind, id }: Deadline, now: Instant): Reservation | undefined {
  const reservation = kind === "reservation" ? ledger.reservations.get(id) : undefined;
  if (reservation?.preemption === undefined || reservation.keepUntil !== undefined) return undefined;
  const { expiresAt = Number.POSITIVE_INFINITY, preemption } = reservation;
  const endsAt = Math.max(preemption.at, sparedUntil(ledger, id));
  return endsAt <= now && preemption.at < expiresAt ? reservation : undefined;
}

/** Reprieves first: who is counted on in their place ends after them. */
function endAfterNotice(
  ledger: LedgerView,
  victims: readonly Reservation[],
  context: DecisionContext,
): Outcome {
  const events = victims.map((victim) => dueNotice(ledger, victim, context));
  const reprieves = events.filter(({ kind }) => kind === "reprieved");
  const ends = events.filter(({ kind }) => kind !== "reprieved");
  return { events: [...reprieves, ...ends], reply: { kind: "swept", hasMore: false } };
}

function dueEvent(ledger: LedgerView, deadline: Deadline, context: DecisionContext): LedgerEvent[] {
  const { now } = context;
  switch (deadline.kind) {
    case "reservation": {
      const reservation = ledger.reservations.get(deadline.id);
      return reservation === undefined ? [] : [dueReservation(ledger, reservation, now)];
    }
    case "waiting": {
      const entry = ledger.waiting.byId.get(deadline.id);
      return entry === undefined ? [] : [dueWaiting(ledger, entry, context)];
    }
    case "closed-key": {
      const closed = ledger.closedKeys.get(deadline.id);
      return closed === undefined
        ? []
        : [{ kind: "key-reopened", at: now, requester: closed.requester, key: closed.key }];
    }
    case "adoption-offer":
      return [{ kind: "adoption-withdrawn", at: now, ...parseOfferName(deadline.id) }];
  }
}

function dueReservation(ledger: LedgerView, reservation: Reservation, now: Instant): LedgerEvent {
  const { id, keepUntil, expiresAt } = reservation;
  if (keepUntil === undefined) {
    const hasExpired = expiresAt !== undefined && expiresAt <= now;
    return { kind: "ended", at: now, id, reason: hasExpired ? "Expired" : "ActivationTimeout" };
  }
  // The provider still lists it: removing it now would count its whole grant again as an unknown reservation.
  const provider = ledger.accounts.get(reservation.provider);
  const isFresh = provider !== undefined && now - provider.receivedAt < ENDED_RETENTION_MS;
  return isFresh && provider.usage.has(id)
    ? { kind: "retained", at: now, id, until: now + ENDED_RETENTION_MS }
    : { kind: "forgotten", at: now, id };
}

/** A request that waited in vain says why; one that left the queue is forgotten after its time. */
function dueWaiting(ledger: LedgerView, entry: Waiting, context: DecisionContext): LedgerEvent {
  const { id, keepUntil, requester, namespace } = entry;
  if (keepUntil !== undefined) return { kind: "forgotten", at: context.now, id };
  const tenant = tenantOf(context.policy, requester, namespace);
  const scheduling = schedulingFor(ledger, { ...entry, tenant }, context);
  const decision = chooseProvider(ledger.candidateTable, scheduling, "");
  const tooDear = overBudget(decision, scheduling.budget)?.reply;
  const message = tooDear?.kind === "rejected" ? tooDear.message : headline(decision);
  return { kind: "unqueued", at: context.now, id, reason: "WaitTimeout", message };
}

/** Only agents of the current protocol can be lost: older agents send no sign of life as requesters. */
function lostRequesters(ledger: LedgerView, { now, lostAfterMs, ending }: LossContext): LedgerEvent[] {
  const events: LedgerEvent[] = [];
  for (const account of ledger.accounts.values()) {
    const isOlder = (account.advertisement?.protocol ?? 0) < CALLS_PROTOCOL;
    if (isOlder || now - account.lastSeenAt <= lostAfterMs) continue;
    for (const id of account.asRequester.keys())
      if (!ending.has(id)) events.push({ kind: "ended", at: now, id, reason: "RequesterLost" });
    for (const { id } of pendingOf(ledger.waiting, account.clusterId))
      if (!ending.has(id)) events.push({ kind: "unqueued", at: now, id, reason: "RequesterLost" });
  }
  return events;
}

interface LossContext {
  readonly now: Instant;
  readonly lostAfterMs: number;
  readonly ending: ReadonlySet<ReservationId>;
}
