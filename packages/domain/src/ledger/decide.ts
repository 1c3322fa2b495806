import { isCountable, isZero, type ResourceVector, sum } from "@resource-broker/base";
import { type Advertisement, CURRENT_PROTOCOL } from "../advertisement/advertisement.ts";
import type { Instant, ReservationId } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import { type AccountView, newAccount, totalReserved, usageById } from "./account.ts";
import { decideAdopt, parseOfferName } from "./adoption.ts";
import {
  ADOPTION_WINDOW_MS,
  type AdoptionWindow,
  isAdoptionOpen,
  MAX_ADOPTION_WINDOW_MS,
} from "./adoption-window.ts";
import {
  type Advertise,
  type Command,
  type DecisionContext,
  type Import,
  type Outcome,
  rejected,
  type SetAdoptionWindow,
  type SetCordon,
} from "./command.ts";
import {
  decideAcknowledge,
  decideActivate,
  decideRefuse,
  decideRelease,
  decideReleaseByKey,
  decideRenew,
} from "./decide-party-calls.ts";
import { decideReserve } from "./decide-reserve.ts";
import { type LedgerView, providerReservations } from "./ledger.ts";
import type { Reservation } from "../reservation/reservation.ts";
import { ENDED_RETENTION_MS } from "./apply.ts";
import type { Deadline } from "./deadlines.ts";
import type { LedgerEvent } from "./event.ts";

/** Maximum per sweep, so that many simultaneous expiries do not block other commands. */
const SWEEP_LIMIT = 1000;

/**
 * Ends reservations that are due. A lost requester has no deadline: with `requesterLostMs` set, the caller must also sweep
 * periodically, not only at the earliest deadline.
 */
function decideExpireDue(ledger: LedgerView, { now, policy }: DecisionContext): Outcome {
  const due = ledger.deadlines.due(now, SWEEP_LIMIT);
  const events = due.flatMap((deadline) => dueEvent(ledger, deadline, now));
  const ending = new Set(events.flatMap((event) => (event.kind === "ended" ? [event.id] : [])));
  const lost =
    policy.requesterLostMs === undefined
      ? []
      : lostRequesters(ledger, { now, lostAfterMs: policy.requesterLostMs, ending });
  const all = [...events, ...lost];
  return { events: all.slice(0, SWEEP_LIMIT), reply: { kind: "swept", hasMore: all.length >= SWEEP_LIMIT } };
}

function dueEvent(ledger: LedgerView, deadline: Deadline, now: Instant): LedgerEvent[] {
  switch (deadline.kind) {
    case "reservation": {
      const reservation = ledger.reservations.get(deadline.id);
      return reservation === undefined ? [] : [dueReservation(ledger, reservation, now)];
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

/** Only agents of the current protocol can be lost: older agents send no sign of life as requesters. */
function lostRequesters(
  ledger: LedgerView,
  context: {
    readonly now: Instant;
    readonly lostAfterMs: number;
    readonly ending: ReadonlySet<ReservationId>;
  },
): LedgerEvent[] {
  const events: LedgerEvent[] = [];
  for (const account of ledger.accounts.values()) {
    if (account.asRequester.size === 0 || (account.advertisement?.protocol ?? 0) < CURRENT_PROTOCOL) continue;
    if (context.now - account.lastSeenAt <= context.lostAfterMs) continue;
    for (const id of account.asRequester.keys()) {
      if (!context.ending.has(id))
        events.push({ kind: "ended", at: context.now, id, reason: "RequesterLost" });
    }
  }
  return events;
}

/** What a command would do. Changes nothing: the caller stores the events, then applies them. */
export function decide(ledger: LedgerView, command: Command, context: DecisionContext): Outcome {
  const at: DecisionContext = { now: Math.max(context.now, ledger.time), policy: context.policy };
  switch (command.kind) {
    case "advertise":
      return decideAdvertise(ledger, command, at.now);
    case "reserve":
      return decideReserve(ledger, command, at);
    case "activate":
      return decideActivate(ledger, command, at.now);
    case "renew":
      return decideRenew(ledger, command, at);
    case "release":
      return decideRelease(ledger, command, at.now);
    case "release-by-key":
      return decideReleaseByKey(ledger, command, at.now);
    case "acknowledge":
      return decideAcknowledge(ledger, command, at.now);
    case "refuse":
      return decideRefuse(ledger, command, at.now);
    case "expire-due":
      return decideExpireDue(ledger, at);
    case "cordon":
    case "uncordon":
      return decideCordon(ledger, command, at.now);
    case "adopt":
      return decideAdopt(ledger, command, at);
    case "open-adoption":
    case "close-adoption":
      return decideAdoptionWindow(ledger, command, at);
    case "import":
      return decideImport(ledger, command, at.now);
  }
}

function decideCordon(ledger: LedgerView, command: SetCordon, now: Instant): Outcome {
  const { by, clusterId, why } = command;
  if (!by.isAdmin) return rejected("forbidden", `only an admin may ${command.kind} a cluster`);
  const account = ledger.accounts.get(clusterId);
  if (account === undefined)
    return rejected("not-found", `cluster ${clusterId} is unknown: it has never advertised or reserved`);
  const isCordoned = command.kind === "cordon";
  const reply = { kind: "cordon-set", clusterId, isCordoned } as const;
  if ((account.cordon !== undefined) === isCordoned) return { events: [], reply };
  if (!isCordoned) return { events: [{ kind: "uncordoned", at: now, clusterId, by: by.clusterId }], reply };
  const cordon = { at: now, by: by.clusterId, ...(why === undefined ? {} : { why }) };
  return { events: [{ kind: "cordoned", at: now, clusterId, cordon }], reply };
}

/**
 * Capacity is not checked: the providers hold these reservations in any case. Only a ledger without reservations imports:
 * later the ledger is more recent than the objects of the older broker.
 */
function decideImport(ledger: LedgerView, { reservations }: Import, now: Instant): Outcome {
  if (ledger.reservations.size > 0) {
    return rejected(
      "ledger-conflict",
      "only a ledger without reservations can import those of an older broker",
    );
  }
  const ids = new Set(reservations.map(({ id }) => id));
  const areLive = reservations.every(({ phase }) => isLive(phase));
  const amounts = reservations.map(({ granted }) => granted);
  const isCounted = !amounts.some(isZero) && isCountable(sum(amounts));
  if (ids.size < reservations.length || !areLive || !isCounted) {
    return rejected("invalid", "imported reservations must be live and unique, with amounts within range");
  }
  const events = reservations.map((reservation) => ({ kind: "adopted", at: now, reservation }) as const);
  return { events, reply: { kind: "imported", count: events.length } };
}

function decideAdoptionWindow(
  ledger: LedgerView,
  command: SetAdoptionWindow,
  { now }: DecisionContext,
): Outcome {
  const { by } = command;
  if (!by.isAdmin) return rejected("forbidden", "only an admin may open or close adoption");
  if (command.kind === "close-adoption") {
    if (!isAdoptionOpen(ledger, now)) return { events: [], reply: { kind: "adoption-window-set" } };
    return set({ since: ledger.adoption?.since ?? now, until: now, cause: "closed", by: by.clusterId }, now);
  }
  const { durationMs } = command;
  if (!Number.isSafeInteger(durationMs) || durationMs <= 0 || durationMs > MAX_ADOPTION_WINDOW_MS) {
    const days = MAX_ADOPTION_WINDOW_MS / ADOPTION_WINDOW_MS;
    return rejected("invalid", `adoption can be open for more than 0 s and at most ${days} days (168h)`);
  }
  return set({ since: now, until: now + durationMs, cause: "opened", by: by.clusterId }, now);
}

function set(window: AdoptionWindow, at: Instant): Outcome {
  return {
    events: [{ kind: "adoption-window-set", at, window }],
    reply: { kind: "adoption-window-set", window },
  };
}

function decideAdvertise(ledger: LedgerView, { advertisement }: Advertise, now: Instant): Outcome {
  const account = ledger.accounts.get(advertisement.clusterId) ?? newAccount(advertisement.clusterId, now);
  const { instance } = advertisement;
  if (instance !== undefined && account.replacedInstances.includes(instance)) {
    return rejected(
      "superseded",
      `a newer agent process of ${advertisement.clusterId} has taken over; stop this one (instance ${instance})`,
    );
  }
  if (isStaleUpdate(account, advertisement)) return { events: [], reply: { kind: "advertised" } };

  const reserved = totalReserved({
    ...providerReservations(ledger, account),
    usage: usageById(advertisement),
  });
  const total = sum([reserved, advertisement.allocated, account.grantedAsRequester, account.grantedBefore]);
  if (![...vectorsOf(advertisement), total].every(isCountable)) {
    return rejected("invalid", "amounts must be whole, not negative, and together at most 2^53-1");
  }
  return { events: [{ kind: "advertised", at: now, advertisement }], reply: { kind: "advertised" } };
}

/** A repeated or delayed post of the same agent process; it changes nothing. */
function isStaleUpdate(
  { advertisement: newest }: AccountView,
  { instance, sequence }: Advertisement,
): boolean {
  if (instance === undefined || sequence === undefined || newest?.instance !== instance) return false;
  return newest.sequence !== undefined && sequence <= newest.sequence;
}

function vectorsOf({ capacity, allocatable, allocated, usage, nodeShapes }: Advertisement): ResourceVector[] {
  const reservationAmounts = usage.flatMap(({ granted, used }) => [granted, used]);
  return [
    capacity,
    allocatable,
    allocated,
    ...reservationAmounts,
    ...nodeShapes.map(({ resources }) => resources),
  ];
}
