import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId, DecisionId, Instant, ReservationId } from "../reservation/ids.ts";
import { requestFingerprint } from "../reservation/reservation.ts";
import { chooseProvider } from "../scheduling/choose-provider.ts";
import type { Decision } from "../scheduling/decision.ts";
import { fitsSomewhere } from "../scheduling/filter-candidates.ts";
import { FILTERS, type FilterName } from "../scheduling/filters.ts";
import { inOrder, Predecessors, type Queued } from "./order.ts";
import { schedulingFor } from "./over-budget.ts";
import { passedOver } from "./passed-over.ts";
import { couldServe } from "./timeline.ts";
import type { Waiting } from "./waiting.ts";

/** Why a request waits. A closed list. */
export const WAITING_REASONS = [
  /** No provider that suits it has room. */
  "Capacity",
  /** There is room, but it is kept for a request that comes first. */
  "Nomination",
  /** Its cluster or tenant holds what the policy allows. */
  "Quota",
  /** What its tenant would be charged exceeds the budget of a day. */
  "Budget",
  /** Its cluster has not been heard lately. */
  "RequesterSilent",
  /** No provider could serve it, even if it were empty. */
  "Unsatisfiable",
  /** It is granted next, or the broker has just started. */
  "Starting",
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

/** Where a request stands in the queue. Derived whenever somebody asks. */
export interface QueuePlace {
  readonly entry: Waiting;
  readonly tenant: string;
  /** The tenant's share, which decides its place among tenants of the same priority. */
  readonly share: number;
  /** From 1. */
  readonly position: number;
  /** How many wait. */
  readonly of: number;
  readonly reason: WaitingReason;
  /** Not before this time, by the ends that reservations have now. */
  readonly expectedStart?: Instant;
  /** The provider whose capacity is kept for it. */
  readonly nominatedTo?: ClusterId;
}

/** The places of the waiting requests that `isAsked` selects, in order. */
export function* queuePlaces(
  ledger: LedgerView,
  context: DecisionContext,
  isAsked: (entry: Waiting) => boolean,
): Generator<QueuePlace> {
  const isServable = servability(ledger, context);
  for (const { queued, position, isBehind } of places(ledger, context)) {
    if (!isAsked(queued.entry)) continue;
    const { entry, tenant, share } = queued;
    const expectedStart = expectedStartOf(ledger, entry, context);
    yield {
      entry,
      tenant,
      share,
      position,
      of: ledger.waiting.pendingCount,
      reason: reasonOf(ledger, queued, { ...context, isBehind, isServable }),
      ...(expectedStart === undefined ? {} : { expectedStart }),
      ...(entry.nominated === undefined ? {} : { nominatedTo: entry.nominated.provider }),
    };
  }
}

function expectedStartOf(
  { plans, accounts }: LedgerView,
  { id, nominated }: Waiting,
  { now, policy }: DecisionContext,
): Instant | undefined {
  const roomBy = accounts.get(nominated?.provider ?? "")?.kept?.roomBy;
  if (nominated === undefined || roomBy === undefined) return plans.get(id)?.from;
  return Math.max(now, roomBy + policy.queue.turnaroundMs);
}

/** What would be decided about a waiting request now, as its explanation. Nothing is recorded. */
export function explainWaiting(
  ledger: LedgerView,
  id: ReservationId,
  context: DecisionContext & { readonly decisionId: DecisionId },
): Decision | undefined {
  const { decisionId, ...moment } = context;
  for (const { queued, isBehind } of places(ledger, moment)) {
    const { entry, tenant } = queued;
    if (entry.id !== id) continue;
    const scheduling = schedulingFor(ledger, { ...entry, tenant }, { ...moment, isBehind });
    return chooseProvider(ledger.candidateTable, scheduling, decisionId);
  }
  return undefined;
}

interface Place {
  readonly queued: Queued;
  readonly position: number;
  readonly isBehind: (id: ReservationId) => boolean;
}

function* places(ledger: LedgerView, { policy }: DecisionContext): Generator<Place> {
  const predecessors = new Predecessors(ledger);
  let position = 0;
  for (const queued of inOrder(ledger, policy)) {
    const { entry } = queued;
    yield { queued, position: ++position, isBehind: predecessors.of(entry) };
    if (ledger.plans.has(entry.id)) predecessors.pass(entry);
  }
}

interface PlaceContext extends DecisionContext, Pick<Place, "isBehind"> {
  readonly isServable: (entry: Waiting) => boolean;
}

function reasonOf(
  ledger: LedgerView,
  queued: Queued,
  { isServable, ...context }: PlaceContext,
): WaitingReason {
  const reason = passedOver(ledger, queued, context);
  if (reason === undefined) return "Starting";
  if (reason !== "Capacity") return reason;
  const { entry } = queued;
  if (!isServable(entry)) return "Unsatisfiable";
  const { requester, request } = entry;
  const alone = { requester, request, ...context, isBehind: () => false };
  return fitsSomewhere(ledger.candidateTable, alone) ? "Nomination" : "Capacity";
}

/** What rejects a candidate only for now: another day, or another state of the cluster, lets the request in. */
const PASSING: ReadonlySet<FilterName> = /* @__PURE__ */ new Set([
  "cordoned",
  "refused-recently",
  "stale",
  "reservation-limit",
  "capacity",
  "kept-for-others",
  "unpriced",
  "budget",
]);

/** Whether some provider could ever serve a request, if it were empty. Many requests of a cluster are alike: asked once for them. */
function servability(ledger: LedgerView, context: DecisionContext): (entry: Waiting) => boolean {
  const known = new Map<string, boolean>();
  const { candidates } = ledger.candidateTable;
  return ({ requester, request }) => {
    const name = `${requester} ${requestFingerprint(request)}`;
    const before = known.get(name);
    if (before !== undefined) return before;
    const scheduling = { requester, request, ...context };
    const lasting = FILTERS.filter((filter) => !PASSING.has(filter.name) && filter.applies(scheduling));
    const isServable = candidates.some(
      (candidate) =>
        couldServe(ledger, candidate.clusterId, request.resources) &&
        !lasting.some((filter) => filter.rejects(candidate, scheduling)),
    );
    known.set(name, isServable);
    return isServable;
  };
}
