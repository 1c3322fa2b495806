import type { LedgerEvent, Policy, Reservation, ReservationRequest } from "@resource-broker/domain";
import { type Book, type Entry, isLivePhase, keyOf, UNITS } from "./book.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** What was asked for so far: whatever ends a reservation must have been asked for, or be due. */
export interface Asked {
  /** `release rsv-1`, `admin rsv-1`, `refuse rsv-1`, `key rome\nk`. */
  readonly has: (what: string) => boolean;
}

export interface Circumstances {
  readonly policy: Policy;
  readonly asked: Asked;
  /** When the broker began to listen: nobody is lost before it could speak. */
  readonly listeningSince: number;
}

type Of<K extends LedgerEvent["kind"]> = Extract<LedgerEvent, { readonly kind: K }>;

/** What is wrong with this event, given all that came before it; undefined when nothing is. */
export function wrongWith(book: Book, event: LedgerEvent, given: Circumstances): string | undefined {
  if (event.at < book.time) return `${event.kind} at ${event.at} is before ${book.time}: time ran backwards`;
  switch (event.kind) {
    case "granted":
      return wrongGrant(book, event, given);
    case "refused":
      return wrongRefusal(book, event, given);
    case "activated":
    case "renewed":
    case "acknowledged":
      return notAlive(book, event);
    case "ended":
      return wrongEnd(book, event, given);
    case "forgotten":
      return wrongForgetting(book, event);
    default:
      return undefined;
  }
}

function wrongGrant(
  book: Book,
  { at, reservation }: Of<"granted">,
  given: Circumstances,
): string | undefined {
  const { id, requester, provider, granted, key, request } = reservation;
  if (book.entries.has(id)) return `${id} is granted a second time`;
  const name = key === undefined ? "" : keyOf(requester, key);
  if (book.keys.has(name)) return `key ${key} of ${requester} books a second time`;
  if (book.closedKeys.has(name)) return `key ${key} of ${requester} books though it was released`;
  for (const unit of UNITS) {
    const available = book.lendable(provider, unit);
    if (granted[unit] > available)
      return `${provider} lends ${granted[unit]} ${unit} to ${requester} and has ${available}: booked twice`;
    if (granted[unit] !== request.resources[unit]) return `${id} holds other amounts than were asked for`;
  }
  return (
    wrongExpiry(reservation, at, given.policy) ?? unfit(book, { provider, requester, request, at }, given)
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
function unfit(book: Book, match: Match, { policy }: Circumstances): string | undefined {
  const { provider, requester, request, at } = match;
  if (provider === requester) return `${provider} lends to itself`;
  if ((request.target ?? provider) !== provider) return `${provider} is not the target`;
  if (request.constraints.excludeClusters?.includes(provider) === true) return `${provider} was excluded`;
  if (book.cordoned.has(provider)) return `${provider} lends though it is cordoned`;
  if (at - heardAt(book, provider) > policy.stalenessMs) return `${provider} lends on an old advertisement`;
  return sinceRefusal(book, match) < policy.refusalMemoryMs
    ? `${provider} has just refused ${requester}`
    : undefined;
}

function heardAt(book: Book, provider: string): number {
  return book.newest.get(provider)?.receivedAt ?? Number.NEGATIVE_INFINITY;
}

function sinceRefusal(book: Book, { provider, requester, at }: Match): number {
  let since = Number.POSITIVE_INFINITY;
  for (const entry of book.entries.values()) {
    const isOne =
      entry.reason === "ProviderRefused" && entry.provider === provider && entry.requester === requester;
    if (isOne) since = Math.min(since, at - (entry.endedAt ?? 0));
  }
  return since;
}

/** Whoever is refused must really be out of luck: else a request that could be served would wait for ever. */
function wrongRefusal(book: Book, { at, decision }: Of<"refused">, given: Circumstances): string | undefined {
  const { requester, request } = decision;
  for (const provider of book.newest.keys()) {
    if (unfit(book, { provider, requester, request, at }, given) !== undefined) continue;
    if (UNITS.every((unit) => request.resources[unit] <= book.available(provider, unit)))
      return `${requester} was refused though ${provider} has enough`;
  }
  return undefined;
}

function notAlive(
  book: Book,
  { kind, id, at }: Of<"activated" | "renewed" | "acknowledged">,
): string | undefined {
  const entry = book.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} was ${kind} after its end`;
  if ((entry.expiresAt ?? Number.POSITIVE_INFINITY) <= at) return `${id} was ${kind} after it expired`;
  return kind === "activated" && entry.phase !== "Reserved" ? `${id} was activated twice` : undefined;
}

function wrongEnd(book: Book, event: Of<"ended">, given: Circumstances): string | undefined {
  const { id, reason } = event;
  const entry = book.entries.get(id);
  if (entry === undefined || !isLivePhase(entry.phase)) return `${id} ends a second time (${reason})`;
  return isDue(book, { entry, event }, given) ? undefined : `${id} ended too early, or unasked: ${reason}`;
}

function isDue(
  book: Book,
  { entry, event: { at, reason } }: { readonly entry: Entry; readonly event: Of<"ended"> },
  { policy, asked, listeningSince }: Circumstances,
): boolean {
  const { id, requester, key, phase } = entry;
  switch (reason) {
    case "Expired":
      return at >= (entry.expiresAt ?? Number.POSITIVE_INFINITY);
    case "ActivationTimeout":
      return phase === "Reserved" && at >= (entry.activateBy ?? Number.POSITIVE_INFINITY);
    case "RequesterLost": {
      const lastHeard = Math.max(book.heard.get(requester) ?? listeningSince, listeningSince);
      return at - lastHeard > (policy.requesterLostMs ?? Number.POSITIVE_INFINITY);
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

function wrongForgetting(book: Book, { id, at }: Of<"forgotten">): string | undefined {
  const entry = book.entries.get(id);
  if (entry === undefined) return `${id} is forgotten a second time`;
  return entry.endedAt !== undefined && at >= entry.endedAt + DAY_MS
    ? undefined
    : `${id} is forgotten too early`;
}
