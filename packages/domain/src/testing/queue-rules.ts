import type { LedgerEvent } from "../ledger/event.ts";
import type { Waiting } from "../queue/waiting.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Kept } from "../scheduling/candidate-table.ts";
import type { Policy } from "../scheduling/policy.ts";
import { isAffordable, isPayable } from "./budget-rules.ts";
import { isLivePhase, keyOf, type LedgerModel, type Unit, UNITS } from "./ledger-model.ts";
import { wrongPreemption, wrongSince } from "./preemption-rules.ts";
import { isTooSoon, type Match, type RuleContext, tenantOf, unfit } from "./fitting-rules.ts";

type Of<K extends LedgerEvent["kind"]> = Extract<LedgerEvent, { readonly kind: K }>;

const QUEUE_ACTIVATION_MS = 900_000;

/** The queue's rules, written a second time: slowly, and from the events alone. */
export function wrongQueuedRequest(
  model: LedgerModel,
  { at, waiting }: Of<"queued">,
  context: RuleContext,
): string | undefined {
  const { id, until } = waiting;
  const wrong = wrongNewcomer(model, waiting);
  if (wrong !== undefined) return wrong;
  if (until <= at || until > at + context.policy.queue.maxWaitMs) return `${id} waits until ${until}`;
  const wrongPlace = wrongSince(model, waiting, at);
  if (wrongPlace !== undefined) return wrongPlace;
  const isAlone = model.queue.pending.length === 0;
  const { id: _, ...newcomer } = waiting;
  const isNeedless = (isAlone || model.queue.isSettledAt(at)) && fits(model, newcomer, { at, context });
  return isNeedless ? `${id} waits though it fits` : undefined;
}

function wrongNewcomer(model: LedgerModel, { id, requester, key }: Waiting): string | undefined {
  const name = keyOf(requester, key);
  if (model.queue.waiting.has(id) || model.entries.has(id)) return `${id} is queued a second time`;
  if (model.keys.has(name)) return `key ${key} of ${requester} queues a second time`;
  if (model.closedKeys.has(name)) return `key ${key} of ${requester} queues though it was released`;
  return model.isEvicted(requester) ? `${requester} queues though it was evicted` : undefined;
}

export function wrongUnqueuing(
  model: LedgerModel,
  { at, id, reason }: Of<"unqueued">,
  context: RuleContext,
): string | undefined {
  const { asked, policy, listeningSince } = context;
  const entry = model.queue.waiting.get(id);
  if (entry?.phase !== "Pending") return `${id} leaves the queue and is ${entry?.phase ?? "unknown"}`;
  const { requester, key } = entry;
  const lastSeen = Math.max(model.lastSeen.get(requester) ?? listeningSince, listeningSince);
  const because: Readonly<Record<string, boolean>> = {
    WaitTimeout: hasTimedOut(entry, at, context),
    ReleasedByRequester: asked.has(`release ${id}`) || asked.has(`key ${keyOf(requester, key)}`),
    ReleasedByAdmin: asked.has(`admin ${id}`) || model.isEvicted(requester),
    RequesterLost: at - lastSeen > (policy.requesterLostMs ?? Number.POSITIVE_INFINITY),
  };
  return because[reason] === true ? undefined : `${id} leaves the queue: ${reason}, for no reason`;
}

function hasTimedOut({ until, createdAt: promisedAt }: Waiting, at: number, context: RuleContext): boolean {
  return at >= until && !isTooSoon(context, { promisedAt, at });
}

/** Settled: nobody who waits could be served. */
export function wrongSettling(
  model: LedgerModel,
  { at }: Of<"settled">,
  context: RuleContext,
): string | undefined {
  const [first] = servable(model, { at, context });
  return first === undefined ? undefined : `the queue is settled though ${first.id} fits`;
}

/**
 * From the queue: the first in order that fits. Past the queue: only if nobody who waits could be served, had they just come:
 * who came since the last look and goes before a plan of its own priority is noticed at the next one.
 */
export function wrongQueueGrant(
  model: LedgerModel,
  { reservation, at }: { readonly reservation: Reservation; readonly at: number },
  context: RuleContext,
): string | undefined {
  const { id } = reservation;
  const entry = model.queue.waiting.get(id);
  const waiting = servable(model, { at, context });
  if (entry === undefined) {
    const overtaken = waiting.find((other) => {
      const { id: _, ...newcomer } = other;
      return !wasRefused(model, other) && fits(model, newcomer, { at, context });
    });
    return overtaken === undefined ? undefined : `${id} is granted before ${overtaken.id}, which waits`;
  }
  const wrong = wrongSuccessor(entry, { reservation, at }, context.policy);
  if (wrong !== undefined) return wrong;
  const first = waiting.find((a) => a.id !== id && compare(model, { a, b: entry }, context.policy) < 0);
  return first === undefined ? undefined : `${id} is granted before ${first.id}`;
}

/** What is wrong with the reservation that takes the place of a waiting request. */
function wrongSuccessor(
  entry: Waiting,
  { reservation, at }: { readonly reservation: Reservation; readonly at: number },
  policy: Policy,
): string | undefined {
  const { id, requester, generation, createdAt, activateBy, tenant = requester } = reservation;
  if (entry.phase !== "Pending") return `${id} has left the queue and is granted`;
  if (generation !== entry.generation + 1 || createdAt !== entry.createdAt)
    return `${id} is granted as if it had not waited`;
  if (activateBy !== at + (policy.activationTimeoutMs ?? QUEUE_ACTIVATION_MS))
    return `${id} is granted without a time to activate it`;
  return tenant === tenantOf(entry, policy) ? undefined : `${id} counts for another tenant`;
}

interface Moment {
  readonly at: number;
  readonly context: RuleContext;
}

/** Those who wait and would find a provider. */
function servable(model: LedgerModel, moment: Moment): Waiting[] {
  return [...model.queue.waiting.values()].filter(
    (entry) => entry.phase === "Pending" && fits(model, entry, moment),
  );
}

type Asked = Pick<Waiting, "requester" | "request" | "namespace"> & { readonly id?: string };

export function fits(model: LedgerModel, asked: Asked, { at, context }: Moment): boolean {
  const { id, requester, request } = asked;
  const tenant = tenantOf(asked, context.policy);
  const lastSeen = Math.max(model.lastSeen.get(requester) ?? 0, context.listeningSince);
  const isSilent = model.newest.has(requester) && at - lastSeen > 2 * context.policy.stalenessMs;
  if (model.isEvicted(requester) || isSilent) return false;
  return [...model.newest.keys()].some((provider) => {
    const match = { provider, requester, request, at, ...(id === undefined ? {} : { id }) };
    if (unfit(model, match, context) !== undefined || isKept(model, match, context)) return false;
    if (!isAffordable(model, { ...match, tenant }, context.policy)) return false;
    return UNITS.every((unit) => request.resources[unit] <= model.available(provider, unit));
  });
}

/** True when the provider keeps what it has for another that comes first, unless enough is left or it is back in time. */
export function isKept(model: LedgerModel, match: Match, { policy }: RuleContext): boolean {
  const { provider, request, id, at } = match;
  if (model.queue.untold.has(provider)) return true;
  const kept = model.queue.kept.get(provider);
  if (kept === undefined || kept.id === id) return false;
  const goesFirst = isBefore(model, { id, request, kept }, policy);
  if (goesFirst) return false;
  // For whom others got notice, what they give back is kept from everybody, however short.
  if (kept.victims === undefined && isBackInTime(kept, { request, at }, policy)) return false;
  return UNITS.some((unit) => {
    const left = model.available(provider, unit) + returning(model, kept, unit) - kept.resources[unit];
    return request.resources[unit] > 0 && request.resources[unit] > left;
  });
}

/** By priority before one that is nominated, and for a newcomer; else by the place in the queue. */
function isBefore(
  model: LedgerModel,
  {
    id = "",
    request,
    kept,
  }: Pick<Match, "request"> & { readonly id?: string | undefined; readonly kept: Kept },
  policy: Policy,
): boolean {
  const { waiting } = model.queue;
  const [own, owner] = [waiting.get(id), waiting.get(kept.id)];
  if (kept.from === undefined || own === undefined || owner === undefined)
    return request.priority > kept.priority;
  return compare(model, { a: own, b: owner }, policy) < 0;
}

/** Of a notice what its victims hold now; of a plan what ends by then and is not available yet, whoever reserved it and when. */
function returning(model: LedgerModel, { id, provider, returnedBy, victims }: Kept, unit: Unit): number {
  if (returnedBy !== undefined) return endingBy(model, { provider, returnedBy }, unit);
  const own = victims?.filter((victim) => model.entries.get(victim)?.preemption?.by === id);
  return own?.reduce((sum, victim) => sum + model.heldBy(provider, victim, unit), 0) ?? 0;
}

function endingBy(
  model: LedgerModel,
  { provider, returnedBy }: { readonly provider: string; readonly returnedBy: number },
  unit: Unit,
): number {
  let total = 0;
  for (const { id, phase, expiresAt, endedAt, ...entry } of model.entries.values()) {
    if (entry.provider !== provider) continue;
    const end = (isLivePhase(phase) ? expiresAt : endedAt) ?? Number.POSITIVE_INFINITY;
    if (end <= returnedBy) total += model.heldBy(provider, id, unit);
  }
  return total;
}

function isBackInTime(
  { from, roomBy }: Pick<Kept, "from" | "roomBy">,
  { request, at }: Pick<Match, "request" | "at">,
  { queue, defaultTtlMs }: Policy,
): boolean {
  const lasts = request.durationMs ?? defaultTtlMs ?? Number.POSITIVE_INFINITY;
  if (from !== undefined) return at + lasts + queue.turnaroundMs <= from;
  return roomBy === undefined ? lasts <= queue.backfillMs : at + lasts <= roomBy;
}

function wrongHold(model: LedgerModel, { at, id }: Of<"nominated">, { queue }: Policy): string | undefined {
  const entry = model.queue.waiting.get(id);
  if (entry?.phase !== "Pending") return `${id} is nominated and does not wait`;
  return at - entry.createdAt < queue.holdAfterMs ? `${id} is nominated too early` : undefined;
}

/** One nomination a provider, after the time it takes, and only to one that could serve it. */
export function wrongNomination(
  model: LedgerModel,
  event: Of<"nominated">,
  context: RuleContext,
): string | undefined {
  const { id, provider, victims } = event;
  const wrong =
    victims === undefined ? wrongHold(model, event, context.policy) : wrongPreemption(model, event, context);
  if (wrong !== undefined) return wrong;
  if (!isPayable(model, event, context.policy)) return `${id} is nominated and exceeds its budget`;
  const other = model.queue.kept.get(provider);
  if (other !== undefined && other.id !== id && other.from === undefined)
    return `${provider} is nominated twice`;
  return model.cordoned.has(provider) || model.isEvicted(provider) ? `${provider} is closed` : undefined;
}

/** A refusal is forgotten as time goes by, which no event says: such a request is noticed at the next look. */
function wasRefused(model: LedgerModel, { requester }: Waiting): boolean {
  return [...model.entries.values()].some(
    (entry) => entry.reason === "ProviderRefused" && entry.requester === requester,
  );
}

interface Pair {
  readonly a: Waiting;
  readonly b: Waiting;
}

/** Priority, then the tenant's share, then the tenant whose first request came first, then which came first in it. */
function compare(model: LedgerModel, { a, b }: Pair, policy: Policy): number {
  const [first, second] = [tenantOf(a, policy), tenantOf(b, policy)];
  const isOne = first === second;
  return (
    b.request.priority - a.request.priority ||
    shareOf(model, first, policy) - shareOf(model, second, policy) ||
    (isOne ? 0 : arrival(firstLike(model, a, policy), firstLike(model, b, policy))) ||
    arrival(a, b)
  );
}

function arrival(a: Waiting, b: Waiting): number {
  return a.since - b.since || (a.id < b.id ? -1 : 1);
}

/** The first that waits with this one's tenant and priority. */
function firstLike(model: LedgerModel, entry: Waiting, policy: Policy): Waiting {
  const alike = [...model.queue.waiting.values()].filter(
    (other) =>
      other.phase === "Pending" &&
      other.request.priority === entry.request.priority &&
      tenantOf(other, policy) === tenantOf(entry, policy),
  );
  return alike.reduce((first, each) => (arrival(each, first) < 0 ? each : first), entry);
}

function shareOf(model: LedgerModel, tenant: string, policy: Policy): number {
  const shares = UNITS.map((unit) => {
    let [held, lendable] = [0, 0];
    for (const entry of model.entries.values()) {
      const isOwn = (entry.tenant ?? entry.requester) === tenant && isLivePhase(entry.phase);
      if (isOwn) held += entry.granted[unit];
    }
    for (const [clusterId, { advertisement }] of model.newest) {
      const own = Math.max(0, advertisement.allocatable[unit] - advertisement.allocated[unit]);
      if (!model.isEvicted(clusterId)) lendable += own;
    }
    return lendable === 0 ? 0 : held / lendable;
  });
  return Math.round((Math.max(...shares) / (policy.tenants[tenant]?.weight ?? 1)) * 1000) / 1000;
}
