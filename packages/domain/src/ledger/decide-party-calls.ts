import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isFinal } from "../reservation/lifecycle.ts";
import type { PreemptionNotice, Reservation } from "../reservation/reservation.ts";
import { ENDED_RETENTION_MS, evolve, type ReservationEvent } from "./apply.ts";
import {
  type Acknowledge,
  type Activate,
  type Actor,
  type DecisionContext,
  type Outcome,
  type Refuse,
  type Release,
  type ReleaseByKey,
  type Renew,
  rejected,
} from "./command.ts";
import { refuseEvicted } from "./decide-member.ts";
import { unacceptableDuration } from "./decide-reserve.ts";
import { renewalOverBudget } from "../queue/over-budget.ts";
import { latestEnd } from "../queue/kept.ts";
import type { Policy } from "../scheduling/policy.ts";
import { leaveQueue, type Waiting } from "../queue/waiting.ts";
import type { ClosedKey, LedgerEvent } from "./event.ts";
import { reservedFor } from "./account.ts";
import { keyName, type LedgerView, providerReservations } from "./ledger.ts";

/** Bounds the memory that one cluster's closed keys can take. */
const MAX_CLOSED_KEYS = 10_000;

export function decideActivate(ledger: LedgerView, { by, id }: Activate, now: Instant): Outcome {
  return onLive(ledger, { by, id, party: "requester", now }, (reservation) =>
    reservation.phase === "Active"
      ? unchanged(reservation)
      : changed(reservation, { kind: "activated", at: now, id }),
  );
}

export function decideRenew(
  ledger: LedgerView,
  { by, id, durationMs }: Renew,
  { now, policy }: DecisionContext,
): Outcome {
  return onLive(ledger, { by, id, party: "requester", now }, (reservation) => {
    const problem = refuseEvicted(ledger, reservation.requester) ?? unacceptableDuration(durationMs, policy);
    if (problem !== undefined) return problem;
    if (reservation.preemption !== undefined) return underNotice(reservation, reservation.preemption);
    const expiresAt = Math.min(now + durationMs, latestRenewal(ledger, reservation, policy));
    // An open-ended reservation, or one that already lasts longer, is never cut short by a renewal.
    if (reservation.expiresAt === undefined || reservation.expiresAt >= expiresAt)
      return unchanged(reservation);
    const tooDear = renewalOverBudget(ledger, reservation, { to: expiresAt, now, policy });
    return tooDear ?? changed(reservation, { kind: "renewed", at: now, id, expiresAt });
  });
}

function underNotice({ id, provider }: Reservation, { at, priority }: PreemptionNotice): Outcome {
  const cause =
    priority === undefined
      ? `${provider} is drained`
      : `a request of priority ${priority} needs its capacity`;
  return rejected(
    "forbidden",
    `${id} is under notice and cannot be renewed: it ends at ${new Date(at).toISOString()}, because ${cause}`,
  );
}

/** A renewal lasts no longer than a waiting request can spare its capacity. */
function latestRenewal(ledger: LedgerView, reservation: Reservation, { queue }: Policy): Instant {
  const { id, expiresAt, provider } = reservation;
  const account = ledger.accounts.get(provider);
  if (account?.kept === undefined || expiresAt === undefined) return Number.POSITIVE_INFINITY;
  const held = reservedFor(id, providerReservations(ledger, account));
  return latestEnd(account, { held, expiresAt }, queue.turnaroundMs) ?? Number.POSITIVE_INFINITY;
}

/** Releasing an ended reservation is not an error. */
export function decideRelease(ledger: LedgerView, { by, id }: Release, now: Instant): Outcome {
  const waiting = ledger.waiting.byId.get(id);
  if (waiting !== undefined) return releaseWaiting(ledger, waiting, { by, now });
  const reservation = visible(ledger, by, id);
  if (reservation === undefined) return unknownReservation(id);
  if (reservation.requester !== by.clusterId && !by.isAdmin) return notTheParty("requester", id);
  if (isFinal(reservation.phase)) return unchanged(reservation);
  const reason = by.clusterId === reservation.requester ? "ReleasedByRequester" : "ReleasedByAdmin";
  return changed(reservation, { kind: "ended", at: now, id, reason });
}

/** Who leaves the queue closes the key: a request that is still under way must not queue again. */
function releaseWaiting(
  ledger: LedgerView,
  waiting: Waiting,
  { by, now }: { readonly by: Actor; readonly now: Instant },
): Outcome {
  const { id, requester, key, phase } = waiting;
  if (requester !== by.clusterId && !by.isAdmin) return unknownReservation(id);
  if (isFinal(phase)) return { events: [], reply: { kind: "waiting", waiting, isReplay: false } };
  const reason = by.clusterId === requester ? "ReleasedByRequester" : "ReleasedByAdmin";
  const left = { kind: "unqueued", at: now, id, reason } as const;
  const closing = closeOnce(ledger, { requester, key, until: now + ENDED_RETENTION_MS }, now);
  const reply = { kind: "waiting", waiting: leaveQueue(waiting, left), isReplay: false } as const;
  return { events: [left, ...closing], reply };
}

/** Closing a closed key changes nothing, so that repeated calls do not fill the audit log. */
function closeOnce(ledger: LedgerView, closedKey: ClosedKey, now: Instant): LedgerEvent[] {
  const name = keyName(closedKey.requester, closedKey.key);
  const isClosed = (ledger.closedKeys.get(name)?.until ?? now) > now;
  return isClosed ? [] : [{ kind: "key-closed", at: now, closedKey }];
}

/**
 * Also works before the reservation exists: a request that arrives later finds its key closed.
 */
export function decideReleaseByKey(
  ledger: LedgerView,
  { requester, key }: ReleaseByKey,
  now: Instant,
): Outcome {
  const name = keyName(requester, key);
  const id = ledger.keys.get(name);
  const reservation = id === undefined ? undefined : ledger.reservations.get(id);
  const closing = closeOnce(ledger, { requester, key, until: now + ENDED_RETENTION_MS }, now);
  const waiting = id === undefined ? undefined : ledger.waiting.byId.get(id);
  if (waiting !== undefined) {
    const { events, reply } = releaseWaiting(ledger, waiting, {
      by: { clusterId: requester, isAdmin: false },
      now,
    });
    return events.length > 0 ? { events, reply } : { events: closing, reply };
  }
  if (reservation === undefined) {
    return tooManyClosed(ledger, { requester, name }) ?? { events: closing, reply: { kind: "key-closed" } };
  }
  if (isFinal(reservation.phase)) return { events: closing, reply: current(reservation) };
  const end = { kind: "ended", at: now, id: reservation.id, reason: "ReleasedByRequester" } as const;
  return { events: [end, ...closing], reply: current(evolve(reservation, end)) };
}

function tooManyClosed(
  ledger: LedgerView,
  { requester, name }: { readonly requester: ClusterId; readonly name: string },
): Outcome | undefined {
  const closed = ledger.accounts.get(requester)?.closedKeyCount ?? 0;
  if (closed < MAX_CLOSED_KEYS || ledger.closedKeys.has(name)) return undefined;
  return rejected("quota-exceeded", `${requester} released ${closed} unused keys within a day`);
}

export function decideAcknowledge(ledger: LedgerView, { by, id }: Acknowledge, now: Instant): Outcome {
  return onLive(ledger, { by, id, party: "provider", now }, (reservation) =>
    reservation.acknowledged
      ? unchanged(reservation)
      : changed(reservation, { kind: "acknowledged", at: now, id }),
  );
}

export function decideRefuse(ledger: LedgerView, { by, id, why }: Refuse, now: Instant): Outcome {
  return onLive(ledger, { by, id, party: "provider", now }, (reservation) =>
    changed(reservation, { kind: "ended", at: now, id, reason: "ProviderRefused", message: why }),
  );
}

type Party = "requester" | "provider";

interface PartyCall {
  readonly by: Actor;
  readonly id: ReservationId;
  readonly party: Party;
  readonly now: Instant;
}

function onLive(
  ledger: LedgerView,
  call: PartyCall,
  decideLive: (reservation: Reservation) => Outcome,
): Outcome {
  const reservation = visible(ledger, call.by, call.id);
  if (reservation === undefined) return unknownReservation(call.id);
  if (reservation[call.party] !== call.by.clusterId && !call.by.isAdmin)
    return notTheParty(call.party, call.id);
  if (isFinal(reservation.phase)) {
    return rejected("already-ended", `${call.id} is ${reservation.phase} (${reservation.reason})`);
  }
  if (reservation.expiresAt !== undefined && reservation.expiresAt <= call.now) {
    return rejected(
      "already-ended",
      `${call.id} expired at ${new Date(reservation.expiresAt).toISOString()}`,
    );
  }
  return decideLive(reservation);
}

/** Only the parties of a reservation and admins can see it. */
function visible(ledger: LedgerView, by: Actor, id: ReservationId): Reservation | undefined {
  const reservation = ledger.reservations.get(id);
  if (reservation === undefined) return undefined;
  const isParty = by.clusterId === reservation.requester || by.clusterId === reservation.provider;
  return isParty || by.isAdmin ? reservation : undefined;
}

function unknownReservation(id: ReservationId): Outcome {
  return rejected("not-found", `no reservation ${id} that you are party to`);
}

function notTheParty(party: Party, id: ReservationId): Outcome {
  return rejected("forbidden", `only the ${party} of ${id} may do this`);
}

function current(reservation: Reservation) {
  return { kind: "current", reservation, isReplay: false } as const;
}

function unchanged(reservation: Reservation): Outcome {
  return { events: [], reply: current(reservation) };
}

function changed(reservation: Reservation, event: ReservationEvent): Outcome {
  return { events: [event], reply: current(evolve(reservation, event)) };
}
