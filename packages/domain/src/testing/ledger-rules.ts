import type { Command } from "../ledger/command.ts";
import type { LedgerEvent } from "../ledger/event.ts";
import type { Reservation, ReservationRequest } from "../reservation/reservation.ts";
import type { Policy } from "../scheduling/policy.ts";
import {
  isLivePhase,
  keyOf,
  type LedgerModel,
  type ModelReservation,
  type Unit,
  UNITS,
} from "./ledger-model.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** What was asked for so far: whatever ends a reservation must have been asked for, or be due. */
export class ReceivedCommands {
  /** `release rsv-1`, `admin rsv-1`, `refuse rsv-1`, `key rome\nk`. */
  readonly #asked = new Set<string>();

  add(command: Command): void {
    if (command.kind === "release")
      this.#asked.add(`${command.by.isAdmin ? "admin" : "release"} ${command.id}`);
    if (command.kind === "refuse") this.#asked.add(`refuse ${command.id}`);
    if (command.kind === "release-by-key") this.#asked.add(`key ${keyOf(command.requester, command.key)}`);
  }

  has(what: string): boolean {
    return this.#asked.has(what);
  }
}

export interface RuleContext {
  readonly policy: Policy;
  readonly asked: ReceivedCommands;
  /** When the broker began to listen: nobody is lost before it could speak. */
  readonly listeningSince: number;
}

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
      return wrongGrant(model, event, context);
    case "adopted":
      return wrongAdoption(model, event);
    case "refused":
      return wrongRefusal(model, event, context);
    case "activated":
    case "renewed":
    case "acknowledged":
      return notAlive(model, event);
    case "ended":
      return wrongEnd(model, event, context);
    case "forgotten":
      return wrongForgetting(model, event);
    default:
      return undefined;
  }
}

function wrongGrant(
  model: LedgerModel,
  { at, reservation }: Of<"granted">,
  context: RuleContext,
): string | undefined {
  const { id, requester, provider, granted, key, request } = reservation;
  if (model.entries.has(id)) return `${id} is granted a second time`;
  const name = key === undefined ? "" : keyOf(requester, key);
  if (model.keys.has(name)) return `key ${key} of ${requester} books a second time`;
  if (model.closedKeys.has(name)) return `key ${key} of ${requester} books though it was released`;
  for (const unit of UNITS) {
    const available = model.lendable(provider, unit);
    if (granted[unit] > available)
      return `${provider} lends ${granted[unit]} ${unit} to ${requester} and has ${available}: booked twice`;
    if (granted[unit] !== request.resources[unit]) return `${id} holds other amounts than were asked for`;
  }
  return (
    wrongExpiry(reservation, at, context.policy) ??
    unfit(model, { provider, requester, request, at }, context)
  );
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

interface Match {
  readonly provider: string;
  readonly requester: string;
  readonly request: ReservationRequest;
  readonly at: number;
}

/** Why this provider should not have been chosen, whatever it has. */
function unfit(model: LedgerModel, match: Match, { policy }: RuleContext): string | undefined {
  const { provider, requester, request, at } = match;
  if (provider === requester) return `${provider} lends to itself`;
  if ((request.target ?? provider) !== provider) return `${provider} is not the target`;
  if (request.constraints.excludeClusters?.includes(provider) === true) return `${provider} was excluded`;
  if (model.cordoned.has(provider)) return `${provider} lends though it is cordoned`;
  if (at - advertisedAt(model, provider) > policy.stalenessMs)
    return `${provider} lends on an old advertisement`;
  return sinceRefusal(model, match) < policy.refusalMemoryMs
    ? `${provider} has just refused ${requester}`
    : undefined;
}

function advertisedAt(model: LedgerModel, provider: string): number {
  return model.newest.get(provider)?.receivedAt ?? Number.NEGATIVE_INFINITY;
}

function sinceRefusal(model: LedgerModel, { provider, requester, at }: Match): number {
  let since = Number.POSITIVE_INFINITY;
  for (const entry of model.entries.values()) {
    const isOne =
      entry.reason === "ProviderRefused" && entry.provider === provider && entry.requester === requester;
    if (isOne) since = Math.min(since, at - (entry.endedAt ?? 0));
  }
  return since;
}

/** Adoption adds what is missing in the ledger: only in its window, and only what the provider has or counts already. */
function wrongAdoption(model: LedgerModel, { at, reservation }: Of<"adopted">): string | undefined {
  const { id, requester, provider, key, granted, createdAt } = reservation;
  if (key !== undefined && model.keys.has(keyOf(requester, key))) return `the adoption of ${id} takes a key`;
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
    if (unfit(model, { provider, requester, request, at }, context) !== undefined) continue;
    if (UNITS.every((unit) => request.resources[unit] <= model.available(provider, unit)))
      return `${requester} was refused though ${provider} has enough`;
  }
  return undefined;
}

function notAlive(
  model: LedgerModel,
  { kind, id, at }: Of<"activated" | "renewed" | "acknowledged">,
): string | undefined {
  const entry = model.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} was ${kind} after its end`;
  if ((entry.expiresAt ?? Number.POSITIVE_INFINITY) <= at) return `${id} was ${kind} after it expired`;
  return kind === "activated" && entry.phase !== "Reserved" ? `${id} was activated twice` : undefined;
}

function wrongEnd(model: LedgerModel, event: Of<"ended">, context: RuleContext): string | undefined {
  const { id, reason } = event;
  const entry = model.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} ends a second time (${reason})`;
  return isDue(model, { entry, event }, context) ? undefined : `${id} ended too early, or unasked: ${reason}`;
}

function isDue(
  model: LedgerModel,
  { entry, event: { at, reason } }: { readonly entry: ModelReservation; readonly event: Of<"ended"> },
  { policy, asked, listeningSince }: RuleContext,
): boolean {
  const { id, requester, key, phase } = entry;
  switch (reason) {
    case "Expired":
      return at >= (entry.expiresAt ?? Number.POSITIVE_INFINITY);
    case "ActivationTimeout":
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
  const entry = model.entries.get(id);
  if (entry === undefined) return `${id} is forgotten a second time`;
  return entry.endedAt !== undefined && at >= entry.endedAt + DAY_MS
    ? undefined
    : `${id} is forgotten too early`;
}
