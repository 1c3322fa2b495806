import { add, fits, isZero, NO_RESOURCES, type ResourceVector } from "@resource-broker/base";
import { CALLS_PROTOCOL, MARKET_PROTOCOL } from "../advertisement/advertisement.ts";
import { type AccountView, reservedFor } from "../ledger/account.ts";
import type { DecisionContext } from "../ledger/command.ts";
import { type LedgerView, providerReservations } from "../ledger/ledger.ts";
import { overQuota } from "../ledger/quota.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isLive } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { Candidate, Kept } from "../scheduling/candidate-table.ts";
import type { NoticeOption, Victim } from "../scheduling/decision.ts";
import type { Queued } from "./order.ts";
import { lackingCapacity, suitability } from "./plans.ts";
import { dominantShare, NOTHING_HELD, tenantOf, tenantRules, withGranted } from "./tenants.ts";
import { freeOf } from "./timeline.ts";
import { neededOf, nominatedWithVictims, victimOf, victimsFor, waitsForGuests } from "./victims.ts";
import type { PreemptionLook, Waiting } from "./waiting.ts";

/** For one request, victims are sought this often. */
const LOOK_EVERY_MS = 30_000;
/** In one look at the queue, they are sought for so many requests. */
const MAX_LOOKED_AT = 8;
/** One request causes notices so many times, and this far apart. */
const MAX_NOTICES = 2;
const NOTICE_AGAIN_MS = 30 * 60_000;
const MAX_ALTERNATIVES = 4;

/** Reservations that shall get notice, for the request and where it then starts. */
export interface Notice {
  readonly queued: Queued;
  readonly chosen: NoticeOption;
  /** The best others. */
  readonly alternatives: readonly NoticeOption[];
}

interface PreemptionResult {
  readonly notice?: Notice;
  /** For whom victims were sought in vain, and when last. */
  readonly looked: readonly PreemptionLook[];
}

/**
 * Seeks victims for the waiting requests, in order, until some are found. A request's place in the queue gives it the first
 * choice; who may be a victim depends on tier and priority alone.
 */
export function seekVictims(
  ledger: LedgerView,
  plans: readonly Kept[],
  context: DecisionContext,
): PreemptionResult {
  const { looked } = ledger;
  const noticed = [...nominatedWithVictims(ledger)];
  const allowed = allowedNotices(ledger, noticed, context);
  if (allowed <= 0) return { looked };
  const seeking = new VictimSearch(ledger, { ...context, plans, allowed });
  const waiting = [...lackingCapacity(ledger, context)];
  const turns = whoseTurn(ledger, waiting, { ...context, noticed });
  for (const queued of waiting) {
    const { entry } = queued;
    if (turns.has(entry.id)) {
      const [chosen, ...others] = seeking.optionsFor(entry);
      const alternatives = others.slice(0, MAX_ALTERNATIVES);
      if (chosen !== undefined) return { notice: { queued, chosen, alternatives }, looked };
    }
    seeking.isBefore.add(entry.id);
  }
  const known = new Map(looked.map((look) => [look.id, look]));
  const lookAt = ({ entry: { id } }: Queued) => (turns.has(id) ? { id, at: context.now } : known.get(id));
  return { looked: waiting.flatMap((queued) => lookAt(queued) ?? []) };
}

interface NoticeContext extends DecisionContext {
  /** The requests for which others have notice. */
  readonly noticed: readonly Waiting[];
}

/** Half of the looks are for the first in order, half for those that were not looked at for longest: nobody is left out. */
function whoseTurn(
  ledger: LedgerView,
  waiting: readonly Queued[],
  context: NoticeContext,
): ReadonlySet<ReservationId> {
  const { now } = context;
  const looks = new Map(ledger.looked.map(({ id, at }) => [id, at]));
  const lookedAt = ({ entry: { id } }: Queued): Instant => looks.get(id) ?? 0;
  const due = waiting.filter(
    (queued) =>
      now - lookedAt(queued) >= LOOK_EVERY_MS &&
      mayCauseNotices(queued.entry, now) &&
      isWithinLimits(ledger, queued, context),
  );
  const first = due.slice(0, MAX_LOOKED_AT / 2);
  const others = due.slice(MAX_LOOKED_AT / 2).sort((a, b) => lookedAt(a) - lookedAt(b));
  return new Set([...first, ...others.slice(0, MAX_LOOKED_AT / 2)].map(({ entry }) => entry.id));
}

function mayCauseNotices({ nominated, noticesAt = [] }: Waiting, now: Instant): boolean {
  if (nominated?.victims !== undefined || noticesAt.length >= MAX_NOTICES) return false;
  return noticesAt.every((at) => now - at >= NOTICE_AGAIN_MS);
}

/** With those of its cluster or tenant that are granted after a notice it stays within every limit: else its victims would end in vain. */
function isWithinLimits(
  ledger: LedgerView,
  { entry: { requester, request }, tenant }: Queued,
  { policy, noticed }: NoticeContext,
): boolean {
  let besides = NOTHING_HELD;
  for (const other of noticed) {
    const isOfTenant = tenantOf(policy, other.requester, other.namespace) === tenant;
    if (isOfTenant && tenantRules(policy, tenant).budget !== undefined) return false;
    if (isOfTenant || other.requester === requester)
      besides = withGranted(besides, other.request.resources, 1);
  }
  return overQuota(ledger, { requester, tenant, request, besides }, policy) === undefined;
}

/** How many more reservations may get notice. */
function allowedNotices(
  ledger: LedgerView,
  noticed: readonly Waiting[],
  { policy }: DecisionContext,
): number {
  let [live, underNotice] = [0, 0];
  for (const { reservations } of ledger.tenants.values()) live += reservations;
  for (const entry of noticed)
    underNotice += victimsFor(ledger, entry).filter(({ phase }) => isLive(phase)).length;
  return Math.max(1, Math.floor(policy.preemption.maxUnderNotice * live)) - underNotice;
}

interface SearchContext extends DecisionContext {
  readonly plans: readonly Kept[];
  readonly allowed: number;
}

/** Finds victims for one waiting request after the other. */
class VictimSearch {
  readonly #ledger: LedgerView;
  readonly #context: SearchContext;
  readonly #planOf: ReadonlyMap<ClusterId, Kept>;
  /** Requests that come before those still to be looked at. */
  readonly isBefore = new Set<ReservationId>();

  constructor(ledger: LedgerView, context: SearchContext) {
    this.#ledger = ledger;
    this.#context = context;
    this.#planOf = new Map(context.plans.map((plan) => [plan.provider, plan]));
  }

  /** Where it could start after a notice, the best first. */
  optionsFor(entry: Waiting): NoticeOption[] {
    if (this.#startsAnyway(entry)) return [];
    const isSuitable = suitability(this.#ledger, entry, this.#context);
    const options = this.#ledger.candidateTable.candidates.flatMap((candidate) =>
      isSuitable(candidate) && this.#isOpenTo(entry, candidate) ? this.#optionAt(candidate, entry) : [],
    );
    return options.sort(compareOptions);
  }

  /** By the ends that are known it starts no later than after a notice. */
  #startsAnyway({ id }: Waiting): boolean {
    const { now, policy, plans } = this.#context;
    const from = plans.find((plan) => plan.id === id)?.from ?? Number.POSITIVE_INFINITY;
    return from <= now + policy.preemption.graceMs + policy.queue.turnaroundMs;
  }

  /** Nothing is kept there for another that was nominated, or that comes first. */
  #isOpenTo({ id }: Waiting, { clusterId, kept }: Candidate): boolean {
    if (kept !== undefined && kept.from === undefined && kept.id !== id) return false;
    return !this.isBefore.has(this.#planOf.get(clusterId)?.id ?? "");
  }

  #optionAt({ clusterId }: Candidate, entry: Waiting): NoticeOption[] {
    const account = this.#ledger.accounts.get(clusterId);
    if (account === undefined || !this.#isInOrder(account)) return [];
    const free = freeOf(account);
    const { resources } = entry.request;
    const victims = this.#possibleVictims(account, entry);
    const all = victims.reduce((sum, { frees }) => add(sum, frees), free);
    const needed = fits(resources, all) ? neededOf(victims, { resources, free }) : undefined;
    if (needed === undefined || needed.length === 0 || needed.length > this.#context.allowed) return [];
    return [{ provider: clusterId, free, victims: needed, share: this.#shareOf(needed) }];
  }

  /** It has what it promised, and nobody is about to leave it. */
  #isInOrder({ clusterId, advertisement, overcommitted }: AccountView): boolean {
    const canTell = (advertisement?.protocol ?? 0) >= CALLS_PROTOCOL;
    return canTell && isZero(overcommitted) && !waitsForGuests(this.#ledger, clusterId);
  }

  #possibleVictims(account: AccountView, entry: Waiting): Victim[] {
    const reservations = providerReservations(this.#ledger, account);
    const victims: Victim[] = [];
    for (const reservation of account.asProvider.values())
      if (this.#mayEndFor(reservation, entry))
        victims.push(victimOf(reservation, reservedFor(reservation.id, reservations)));
    return victims;
  }

  #mayEndFor(reservation: Reservation, entry: Waiting): boolean {
    const { requester, reservedAt, preemption, decisionId } = reservation;
    const { now, policy } = this.#context;
    // One that was adopted has no decision, and a request that nobody knows.
    if (preemption !== undefined || decisionId === undefined || now - reservedAt < policy.preemption.minRunMs)
      return false;
    const protocol = this.#ledger.accounts.get(requester)?.advertisement?.protocol ?? 0;
    return protocol >= MARKET_PROTOCOL && isOutranked(reservation, entry, this.#context);
  }

  /** In thousandths of what the fleet lends. */
  #shareOf(victims: readonly Victim[]): number {
    let granted: ResourceVector = NO_RESOURCES;
    for (const { frees } of victims) granted = add(granted, frees);
    return dominantShare({ granted }, this.#ledger.candidateTable.lendable, 1);
  }
}

/** By tier or priority: the place in the queue alone gives nobody a victim. */
function isOutranked({ request }: Reservation, by: Waiting, { policy }: DecisionContext): boolean {
  const { victims, minPriorityGap } = policy.preemption;
  if (request.tier === "spot" && by.request.tier !== "spot") return true;
  return victims === "lower-priority" && request.priority + minPriorityGap <= by.request.priority;
}

/** The best first: the least important victims, then the fewest, then the smallest. */
export function compareOptions(a: NoticeOption, b: NoticeOption): number {
  return (
    highestPriority(a) - highestPriority(b) ||
    a.victims.length - b.victims.length ||
    a.share - b.share ||
    (a.provider < b.provider ? -1 : 1)
  );
}

function highestPriority({ victims }: NoticeOption): number {
  return Math.max(...victims.map(({ priority }) => priority));
}
