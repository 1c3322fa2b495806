import type { LedgerEvent } from "../ledger/event.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Policy } from "../scheduling/policy.ts";
import {
  isLivePhase,
  keyOf,
  type LedgerModel,
  type ModelReservation,
  type Unit,
  UNITS,
} from "./ledger-model.ts";

import { isAffordable, wrongClosing, wrongCost, wrongLoss, wrongRenewal } from "./budget-rules.ts";
import {
  isKept,
  wrongNomination,
  wrongQueuedRequest,
  wrongQueueGrant,
  wrongSettling,
  wrongUnqueuing,
} from "./queue-rules.ts";
import { isTooSoon, type Match, type RuleContext, unfit } from "./fitting-rules.ts";
import { wrongNotice, wrongPreempted, wrongReprieve, wrongResumption } from "./preemption-rules.ts";
import { wrongAdvertiser, wrongMember } from "./member-rules.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

type Of<K extends LedgerEvent["kind"]> = Extract<LedgerEvent, { readonly kind: K }>;

/** What is wrong with this event, given all that came before it; undefined when nothing is. */
export function violationIn(
  model: LedgerModel,
  event: LedgerEvent,
  context: RuleContext,
): string | undefined {
  if (event.at < model.time)
    return `${event.kind} at ${event.at} is before ${model.time}: time ran backwards`;
  switch (event.kind) {
    case "granted":
      return wrongGrant(model, event, context) ?? wrongCost(model, event, context);
    case "queued":
      return wrongQueuedRequest(model, event, context);
    case "unqueued":
      return wrongUnqueuing(model, event, context);
    case "nominated":
      return wrongNomination(model, event, context);
    case "preempting":
      return wrongNotice(model, event, context);
    case "reprieved":
      return wrongReprieve(model, event);
    case "resumed":
      return wrongResumption(model, event);
    case "settled":
      return wrongSettling(model, event, context);
    case "adopted":
      return wrongAdoption(model, event);
    case "refused":
      return wrongRefusal(model, event, context);
    case "renewed":
      return notAlive(model, event) ?? wrongRenewal(model, event, context);
    case "activated":
    case "acknowledged":
      return notAlive(model, event);
    case "day-closed":
      return wrongClosing(model, event);
    case "ended":
      return wrongEnd(model, event, context);
    case "forgotten":
      return wrongForgetting(model, event) ?? wrongLoss(model, event);
    case "advertised":
      return wrongAdvertiser(model, event.advertisement);
    case "member-invited":
    case "member-enrolled":
    case "member-accepted":
    case "member-bound":
    case "member-evicted":
      return wrongMember(model, event, context.asked);
    default:
      return undefined;
  }
}

function wrongGrant(
  model: LedgerModel,
  { at, reservation }: Of<"granted">,
  context: RuleContext,
): string | undefined {
  const { id, requester, provider, granted, request } = reservation;
  const wrong = wrongCaller(model, reservation);
  if (wrong !== undefined) return wrong;
  for (const unit of UNITS) {
    const available = model.lendable(provider, unit);
    if (granted[unit] > available)
      return `${provider} lends ${granted[unit]} ${unit} to ${requester} and has ${available}: booked twice`;
    if (granted[unit] !== request.resources[unit]) return `${id} holds other amounts than were asked for`;
  }
  if (!model.queue.untold.has(provider) && isKept(model, { provider, requester, request, at, id }, context))
    return `${id} takes what ${provider} keeps for ${model.queue.kept.get(provider)?.id}`;
  return (
    wrongQueueGrant(model, { reservation, at }, context) ??
    wrongExpiry(reservation, at, context.policy) ??
    unfit(model, { provider, requester, request, at }, context)
  );
}

function wrongCaller(model: LedgerModel, { id, requester, key }: Reservation): string | undefined {
  if (model.entries.has(id)) return `${id} is granted a second time`;
  if (model.isEvicted(requester)) return `${requester} reserves though it was evicted`;
  const name = key === undefined ? "" : keyOf(requester, key);
  if (model.closedKeys.has(name)) return `key ${key} of ${requester} books though it was released`;
  return model.keys.has(name) && !model.queue.waiting.has(id)
    ? `key ${key} of ${requester} books a second time`
    : undefined;
}

function wrongExpiry(
  { id, request, expiresAt }: Reservation,
  at: number,
  policy: Policy,
): string | undefined {
  const duration = request.durationMs ?? policy.defaultTtlMs ?? policy.maxTtlMs;
  const expected = duration === undefined ? undefined : at + duration;
  return expected === expiresAt ? undefined : `${id} made at ${at} lasts until ${expiresAt}, not ${expected}`;
}

/** Adoption adds what is missing in the ledger: only in its window, and only what the provider has or counts already. */
function wrongAdoption(model: LedgerModel, { at, reservation }: Of<"adopted">): string | undefined {
  const { id, requester, provider, key, granted, createdAt } = reservation;
  if (key !== undefined && model.keys.has(keyOf(requester, key))) return `the adoption of ${id} takes a key`;
  if (model.isEvicted(requester) || model.isEvicted(provider))
    return `the adoption of ${id} is for an evicted cluster`;
  if (at >= model.adoption.until) return `${id} is adopted while adoption is closed`;
  if (createdAt >= model.adoption.since) return `${id} is adopted though the ledger remembers its time`;
  const exceeds = UNITS.some(
    (unit) => granted[unit] - countedAlready(model, reservation, unit) > model.available(provider, unit),
  );
  return exceeds ? `the adoption of ${id} exceeds what ${provider} has` : undefined;
}

/** What the provider's advertisement takes for it already; the rest must be available. */
function countedAlready(model: LedgerModel, { id, provider, granted }: Reservation, unit: Unit): number {
  const usage = model.newest.get(provider)?.advertisement.usage ?? [];
  const reported = usage.find(({ reservationId }) => reservationId === id);
  const counted = reported === undefined ? 0 : model.unaccounted(provider, reported, unit);
  return Math.min(counted, granted[unit]);
}

/** Whoever is refused must really be out of luck: else a request that could be served would wait for ever. */
function wrongRefusal(
  model: LedgerModel,
  { at, decision }: Of<"refused">,
  context: RuleContext,
): string | undefined {
  const { requester, request } = decision;
  for (const provider of model.newest.keys()) {
    const match = { provider, requester, request, at };
    if (unfit(model, match, context) !== undefined || isKept(model, match, context)) continue;
    if (!mayAfford(model, match, context)) continue;
    if (UNITS.every((unit) => request.resources[unit] <= model.available(provider, unit)))
      return `${requester} was refused though ${provider} has enough`;
  }
  return undefined;
}

/** Its namespace is not known: it may count for any tenant of its cluster. */
function mayAfford(model: LedgerModel, match: Match, { policy }: RuleContext): boolean {
  const tenants = Object.entries(policy.tenants).filter(([, { members }]) =>
    members.some(({ cluster }) => cluster === match.requester),
  );
  return tenants.every(([tenant]) => isAffordable(model, { ...match, tenant }, policy));
}

function notAlive(
  model: LedgerModel,
  { kind, id, at }: Of<"activated" | "renewed" | "acknowledged">,
): string | undefined {
  const entry = model.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} was ${kind} after its end`;
  if ((entry.expiresAt ?? Number.POSITIVE_INFINITY) <= at) return `${id} was ${kind} after it expired`;
  if (kind === "renewed") return wrongRenewer(model, entry);
  return kind === "activated" && entry.phase !== "Reserved" ? `${id} was activated twice` : undefined;
}

function wrongRenewer(model: LedgerModel, entry: ModelReservation): string | undefined {
  const { id, requester, preemption } = entry;
  if (model.isEvicted(requester)) return `${id} was renewed by an evicted cluster`;
  return preemption === undefined ? undefined : `${id} was renewed under notice`;
}

function wrongEnd(model: LedgerModel, event: Of<"ended">, context: RuleContext): string | undefined {
  const { id, reason } = event;
  const entry = model.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} ends a second time (${reason})`;
  if (reason === "Preempted") return wrongPreempted(model, { victim: entry, at: event.at }, context);
  return isDue(model, { entry, event }, context) ? undefined : `${id} ended too early, or unasked: ${reason}`;
}

function isDue(
  model: LedgerModel,
  { entry, event: { at, reason } }: { readonly entry: ModelReservation; readonly event: Of<"ended"> },
  { asked, ...context }: RuleContext,
): boolean {
  const { policy, listeningSince } = context;
  const { id, requester, key, phase, reservedAt: promisedAt } = entry;
  switch (reason) {
    case "Expired":
      return at >= (entry.expiresAt ?? Number.POSITIVE_INFINITY);
    case "ActivationTimeout":
      if (isTooSoon(context, { promisedAt, at })) return false;
      return phase === "Reserved" && at >= (entry.activateBy ?? Number.POSITIVE_INFINITY);
    case "RequesterLost": {
      const lastSeen = Math.max(model.lastSeen.get(requester) ?? listeningSince, listeningSince);
      return at - lastSeen > (policy.requesterLostMs ?? Number.POSITIVE_INFINITY);
    }
    case "ReleasedByRequester":
      return asked.has(`release ${id}`) || (key !== undefined && asked.has(`key ${keyOf(requester, key)}`));
    case "ReleasedByAdmin":
      return asked.has(`admin ${id}`);
    case "ProviderRefused":
      return asked.has(`refuse ${id}`);
    default:
      return false;
  }
}

function wrongForgetting(model: LedgerModel, { id, at }: Of<"forgotten">): string | undefined {
  const entry = model.entries.get(id) ?? model.queue.waiting.get(id);
  if (entry === undefined) return `${id} is forgotten a second time`;
  return entry.endedAt !== undefined && at >= entry.endedAt + DAY_MS
    ? undefined
    : `${id} is forgotten too early`;
}
