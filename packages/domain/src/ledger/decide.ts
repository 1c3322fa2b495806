import { isCountable, isZero, type ResourceVector, sum } from "@resource-broker/base";
import type { Advertisement } from "../advertisement/advertisement.ts";
import type { Instant } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import { type AccountView, newAccount, totalReserved, usageById } from "./account.ts";
import { decideAdopt } from "./adoption.ts";
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
} from "./command.ts";
import {
  decideAcknowledge,
  decideActivate,
  decideRefuse,
  decideRelease,
  decideReleaseByKey,
  decideRenew,
} from "./decide-party-calls.ts";
import { decideCordon } from "./decide-cordon.ts";
import { decideMember, refuseEvicted } from "./decide-member.ts";
import { decideExpireDue } from "./decide-expire.ts";
import { decideReserve } from "./decide-reserve.ts";
import { decideAdmit } from "../queue/decide-admit.ts";
import { withReprieves } from "../queue/victims.ts";
import { type LedgerView, providerReservations } from "./ledger.ts";
import { claimProblem } from "./liqo-claims.ts";

/** What a command would do. Changes nothing: the caller stores the events, then applies them. */
export function decide(ledger: LedgerView, command: Command, context: DecisionContext): Outcome {
  const at: DecisionContext = { now: Math.max(context.now, ledger.time), policy: context.policy };
  return withReprieves(ledger, decideCommand(ledger, command, at), at);
}

function decideCommand(ledger: LedgerView, command: Command, at: DecisionContext): Outcome {
  switch (command.kind) {
    case "advertise":
      return decideAdvertise(ledger, command, at);
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
    case "admit":
      return decideAdmit(ledger, command, at);
    case "expire-due":
      return decideExpireDue(ledger, at);
    case "cordon":
    case "uncordon":
    case "drain":
      return decideCordon(ledger, command, at);
    case "adopt":
      return decideAdopt(ledger, command, at);
    case "open-adoption":
    case "close-adoption":
      return decideAdoptionWindow(ledger, command, at);
    case "import":
      return decideImport(ledger, command, at.now);
    case "invite":
    case "enroll":
    case "accept":
    case "evict":
    case "bind":
      return decideMember(ledger, command, at.now);
  }
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

function decideAdvertise(
  ledger: LedgerView,
  { advertisement }: Advertise,
  { now, policy }: DecisionContext,
): Outcome {
  const { clusterId, instance } = advertisement;
  const refusal = refuseEvicted(ledger, clusterId);
  if (refusal !== undefined) return refusal;
  const account = ledger.accounts.get(clusterId) ?? newAccount(clusterId, now);
  if (instance !== undefined && account.replacedInstances.includes(instance)) {
    return rejected(
      "superseded",
      `a newer agent process of ${clusterId} has taken over; stop this one (instance ${instance})`,
    );
  }
  if (isStaleUpdate(account, advertisement)) return { events: [], reply: { kind: "advertised" } };
  const taken = claimProblem(ledger, advertisement);
  if (taken !== undefined) return taken;

  const reserved = totalReserved({
    ...providerReservations(ledger, account),
    usage: usageById(advertisement),
  });
  const total = sum([reserved, advertisement.allocated, account.grantedAsRequester, account.grantedBefore]);
  if (![...vectorsOf(advertisement), total].every(isCountable)) {
    return rejected("invalid", "amounts must be whole, not negative, and together at most 2^53-1");
  }
  const wasStale = now - account.receivedAt > policy.stalenessMs ? { wasStale: true as const } : {};
  return {
    events: [{ kind: "advertised", at: now, advertisement, ...wasStale }],
    reply: { kind: "advertised" },
  };
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
