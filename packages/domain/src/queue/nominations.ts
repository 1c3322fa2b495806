import { amountOf, type ResourceVector, resourceNames, shortage } from "@resource-broker/base";
import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isFinal } from "../reservation/lifecycle.ts";
import type { Candidate } from "../scheduling/candidate-table.ts";
import { isHeldOpen } from "./kept.ts";
import { isNominatedTenant, isWithinPart, type Nominated, nominatedRequests } from "./nominated.ts";
import { barredBy } from "./passed-over.ts";
import { type Leading, type Plans, suitability } from "./plans.ts";
import { tenantOf } from "./tenants.ts";
import { couldServe, roomBy } from "./timeline.ts";
import { hasWaitedInVain } from "./victims.ts";
import type { NominatedRoom, QueueTurn, Waiting } from "./waiting.ts";

/** So many turns are remembered. */
const MAX_TURNS = 256;
/** In `holdAfter`: after that a request was overtaken for long enough. */
const OVERTAKEN_AFTER = 6;

interface DueNomination {
  readonly id: ReservationId;
  readonly provider: ClusterId;
}

/**
 * A request whose turn came long enough ago: the first of all, if no start can be computed for it, or one that others have
 * overtaken. What is too large beside others lets no more of them in: it would wait for ever.
 */
export function nominationDue(
  ledger: LedgerView,
  leading: Plans["leading"],
  context: DecisionContext,
): DueNomination | undefined {
  const due = dueEntries(ledger, leading[0], context);
  if (due.length === 0) return undefined;
  const others = nominatedRequests(ledger, context.policy);
  for (const entry of due) {
    const tenant = tenantOf(context.policy, entry.requester, entry.namespace);
    const isBarred = barredBy(ledger, { entry, tenant }, context) !== undefined;
    if (isBarred || isNominatedTenant(tenant, others)) continue;
    const provider = bestProvider(ledger, { entry, others }, context);
    if (provider === undefined) continue;
    return isWithinPart(ledger, entry, others) ? { id: entry.id, provider } : undefined;
  }
  return undefined;
}

function dueEntries(
  { turns, waiting }: LedgerView,
  first: Leading | undefined,
  { now, policy }: DecisionContext,
): Waiting[] {
  return turns.flatMap((turn) => {
    const entry = waiting.byId.get(turn.id);
    if (entry === undefined || isFinal(entry.phase) || entry.nominated !== undefined) return [];
    const dueAfter = dueAfterOf(turn, first);
    return dueAfter !== undefined && now - turn.since >= dueAfter * policy.queue.holdAfterMs ? [entry] : [];
  });
}

/** In `holdAfter`. Undefined: it is the first of all, and starts when it was told. */
function dueAfterOf({ id, from }: QueueTurn, first: Leading | undefined): number | undefined {
  if (id !== first?.id) return OVERTAKEN_AFTER;
  if (first.from === undefined) return 1;
  return from !== undefined && first.from > from ? OVERTAKEN_AFTER : undefined;
}

/** Where it has room first, by the ends that are known; else where it lacks least. */
function bestProvider(
  ledger: LedgerView,
  { entry, others }: { readonly entry: Waiting; readonly others: readonly Nominated[] },
  context: DecisionContext,
): ClusterId | undefined {
  const taken = new Set(others.map((other) => other.provider));
  const { resources } = entry.request;
  const isSuitable = suitability(ledger, entry, context);
  const [best] = ledger.candidateTable.candidates
    .filter(
      (each) =>
        !taken.has(each.clusterId) && isSuitable(each) && couldServe(ledger, each.clusterId, resources),
    )
    .map((candidate) => ({
      provider: candidate.clusterId,
      roomBy: roomBy(ledger, candidate.clusterId, resources) ?? Number.MAX_VALUE,
      lack: lackOf(candidate, resources),
    }))
    .sort((a, b) => a.roomBy - b.roomBy || a.lack - b.lack || (a.provider < b.provider ? -1 : 1));
  return best?.provider;
}

/** The turns of those that still wait, and of those whose turn it is now. */
export function turnsWith(
  { turns, waiting }: LedgerView,
  leading: Plans["leading"],
  now: Instant,
): readonly QueueTurn[] {
  const [first] = leading;
  const told = (id: ReservationId) =>
    id === first?.id && first.from !== undefined ? { from: first.from } : {};
  const still = turns
    .filter(({ id }) => waiting.byId.get(id)?.phase === "Pending")
    .map((turn) => (turn.from === undefined ? { ...turn, ...told(turn.id) } : turn));
  const known = new Set(still.map(({ id }) => id));
  const others = leading
    .filter(({ id }) => !known.has(id))
    .map(({ id }) => ({ id, since: now, ...told(id) }));
  return [...still, ...others].slice(0, MAX_TURNS);
}

/** When those that are nominated have room, where the known ends are enough. */
export function roomsOfNominated(ledger: LedgerView): NominatedRoom[] {
  return ledger.candidateTable.candidates.flatMap(({ clusterId, kept }) => {
    if (kept === undefined || !isHeldOpen(kept)) return [];
    const by = roomBy(ledger, clusterId, kept.resources);
    return by === undefined || by === Number.NEGATIVE_INFINITY ? [] : [{ provider: clusterId, by }];
  });
}

/** A nominated request that could not start: its provider is cordoned, stale, or has refused; or it is passed over itself. */
export function lapsedNomination(ledger: LedgerView, context: DecisionContext): Waiting | undefined {
  for (const line of ledger.waiting.lines()) {
    for (const entry of line.entries) {
      const provider = entry.nominated?.provider;
      if (provider === undefined) continue;
      const candidate = ledger.candidateTable.candidates.find(({ clusterId }) => clusterId === provider);
      const isSuitable = candidate !== undefined && suitability(ledger, entry, context)(candidate);
      if (!isSuitable || isHopeless(ledger, entry, context)) return entry;
    }
  }
  return undefined;
}

/** With victims, what their pods still use comes back: it has its own time. Nothing is kept for a requester that may be gone. */
function isHopeless(ledger: LedgerView, entry: Waiting, context: DecisionContext): boolean {
  const { requester, namespace, nominated, request } = entry;
  const { provider = "", victims } = nominated ?? {};
  if (victims !== undefined) return hasWaitedInVain(ledger, entry, context.now);
  const tenant = tenantOf(context.policy, requester, namespace);
  const isBarred = barredBy(ledger, { entry, tenant }, context) !== undefined;
  return isBarred || !couldServe(ledger, provider, request.resources);
}

/** Sum of the shares that are missing of what is asked for. */
function lackOf({ available }: Candidate, request: ResourceVector): number {
  const missing = shortage(request, available);
  let lack = 0;
  for (const name of resourceNames(missing)) lack += amountOf(missing, name) / amountOf(request, name);
  return lack;
}
