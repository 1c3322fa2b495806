import { add, amountOf, type ResourceVector, resourceNames, shortage } from "@resource-broker/base";
import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { isFinal } from "../reservation/lifecycle.ts";
import type { Candidate } from "../scheduling/candidate-table.ts";
import type { Policy } from "../scheduling/policy.ts";
import { isHeldOpen } from "./kept.ts";
import { barredBy } from "./passed-over.ts";
import { suitability } from "./plans.ts";
import { tenantOf } from "./tenants.ts";
import { couldServe, roomBy } from "./timeline.ts";
import { hasWaitedInVain } from "./victims.ts";
import type { NominatedRoom, QueueHead, Waiting } from "./waiting.ts";

/** Of what the fleet lends, several nominations together keep no more than this part. */
const LARGEST_PART = 0.25;

/** So many requests that have been first are remembered. */
const MAX_TURNS = 64;

interface FirstInQueue {
  readonly first: ReservationId | undefined;
  /** No start could be computed for it. */
  readonly isStuck: boolean;
}

interface DueNomination {
  readonly id: ReservationId;
  readonly provider: ClusterId;
}

/**
 * Long enough after their turn came, and while they still lack capacity: requests that others overtook, whose tenants hold
 * less; and the first, if no start can be computed for it.
 */
export function nominationDue(
  ledger: LedgerView,
  { first, isStuck }: FirstInQueue,
  context: DecisionContext,
): DueNomination | undefined {
  const { now, policy } = context;
  const isLongAgo = ({ since }: QueueHead): boolean => now - since >= policy.queue.holdAfterMs;
  const due = ledger.turns.filter((turn) => turn.id !== first && isLongAgo(turn));
  if (isStuck && ledger.head !== undefined && ledger.head.id === first && isLongAgo(ledger.head))
    due.push(ledger.head);
  if (due.length === 0) return undefined;
  const others = nominatedEntries(ledger);
  const tenants = new Set(others.map((other) => tenantIn(other, policy)));
  for (const { id } of due) {
    const entry = ledger.waiting.byId.get(id);
    if (entry === undefined || isFinal(entry.phase) || entry.nominated !== undefined) continue;
    const tenant = tenantIn(entry, policy);
    if (tenants.has(tenant) || barredBy(ledger, { entry, tenant }, context) !== undefined) continue;
    // What is free is not given away in small parts.
    if (!isWithinPart(ledger, entry, others)) return undefined;
    const provider = bestProvider(ledger, { entry, others }, context);
    if (provider !== undefined) return { id, provider };
  }
  return undefined;
}

function tenantIn({ requester, namespace }: Waiting, policy: Policy): string {
  return tenantOf(policy, requester, namespace);
}

function nominatedEntries({ candidateTable, waiting }: LedgerView): Waiting[] {
  return candidateTable.candidates.flatMap(({ kept }) => {
    const entry = kept === undefined ? undefined : waiting.byId.get(kept.id);
    return entry?.nominated === undefined ? [] : [entry];
  });
}

/** Where it has room first, by the ends that are known; else where it lacks least. */
function bestProvider(
  ledger: LedgerView,
  { entry, others }: { readonly entry: Waiting; readonly others: readonly Waiting[] },
  context: DecisionContext,
): ClusterId | undefined {
  const taken = new Set(others.map((other) => other.nominated?.provider));
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

/** The turns of those that still wait, and of the one that is first now. */
export function turnsWith(
  { turns, waiting }: LedgerView,
  first: ReservationId | undefined,
  now: Instant,
): readonly QueueHead[] {
  const isWaiting = ({ id }: QueueHead): boolean => waiting.byId.get(id)?.phase === "Pending";
  const still = turns.every(isWaiting) ? turns : turns.filter(isWaiting);
  if (first === undefined || still.length === MAX_TURNS || still.some(({ id }) => id === first)) return still;
  return [...still, { id: first, since: now }];
}

/** When those that are nominated have room, where the known ends are enough. */
export function roomsOfNominated(ledger: LedgerView): NominatedRoom[] {
  return ledger.candidateTable.candidates.flatMap(({ clusterId, kept }) => {
    if (kept === undefined || !isHeldOpen(kept)) return [];
    const by = roomBy(ledger, clusterId, kept.resources);
    return by === undefined || by === Number.NEGATIVE_INFINITY ? [] : [{ provider: clusterId, by }];
  });
}

/** A nominated request whose provider can no longer serve it: cordoned, stale, or it has refused. */
export function lapsedNomination(ledger: LedgerView, context: DecisionContext): Waiting | undefined {
  for (const line of ledger.waiting.lines()) {
    for (const entry of line.entries) {
      const provider = entry.nominated?.provider;
      if (provider === undefined) continue;
      const candidate = ledger.candidateTable.candidates.find(({ clusterId }) => clusterId === provider);
      const isSuitable = candidate !== undefined && suitability(ledger, entry, context)(candidate);
      if (!isSuitable || isHopeless(ledger, entry, context.now)) return entry;
    }
  }
  return undefined;
}

/** With victims, what their pods still use comes back: it has its own time. */
function isHopeless(ledger: LedgerView, entry: Waiting, now: number): boolean {
  const { provider = "", victims } = entry.nominated ?? {};
  if (victims !== undefined) return hasWaitedInVain(ledger, entry, now);
  return !couldServe(ledger, provider, entry.request.resources);
}

/** One alone may be larger: it would wait for ever. */
function isWithinPart(ledger: LedgerView, entry: Waiting, others: readonly Waiting[]): boolean {
  if (others.length === 0) return true;
  let total: ResourceVector = entry.request.resources;
  for (const other of others) total = add(total, other.request.resources);
  const { lendable } = ledger.candidateTable;
  return resourceNames(total).every(
    (name) => amountOf(total, name) <= LARGEST_PART * amountOf(lendable, name),
  );
}

/** Sum of the shares that are missing of what is asked for. */
function lackOf({ available }: Candidate, request: ResourceVector): number {
  const missing = shortage(request, available);
  let lack = 0;
  for (const name of resourceNames(missing)) lack += amountOf(missing, name) / amountOf(request, name);
  return lack;
}
