import type { DecisionContext } from "../ledger/command.ts";
import type { LedgerView } from "../ledger/ledger.ts";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import { type ReservationRequest, requestFingerprint } from "../reservation/reservation.ts";
import type { Candidate, Kept } from "../scheduling/candidate-table.ts";
import { capacity, type Filter, FILTERS, keptForOthers, reservationLimit } from "../scheduling/filters.ts";
import { schedulingFor } from "./over-budget.ts";
import { isNominatedTenant, nominatedRequests } from "./nominated.ts";
import { inOrder, type Queued } from "./order.ts";
import { barredBy } from "./passed-over.ts";
import { tenantOf } from "./tenants.ts";
import { couldServe, type Start, startAt } from "./timeline.ts";
import type { Waiting } from "./waiting.ts";

/** More would make each look at the queue expensive; who comes later finds its place when those before are served. */
const MAX_PLANS = 64;
/** So many waiting requests are looked at to find those that can be planned. */
const MAX_LOOKED_AT = 256;
/** So many different requests are planned: equal ones share the work. */
const MAX_KINDS = 16;

export interface Plans {
  readonly plans: readonly Kept[];
  /** Whose turn it is: of the highest priority the first of each tenant that some provider could serve, in order. */
  readonly leading: readonly Leading[];
}

export interface Leading {
  readonly id: ReservationId;
  readonly priority: number;
  readonly tenant: string;
  /** When it starts by its plan, if it has one. */
  readonly from?: Instant;
}

/**
 * For each waiting request that only lacks capacity, in order: the provider where it can start first, by the ends that
 * reservations have. A provider has one plan.
 */
export function plansFor(ledger: LedgerView, context: DecisionContext): Plans {
  const nominated = nominatedRequests(ledger, context.policy);
  const promised = new Set(nominated.map(({ provider }) => provider));
  const taken = new Set(promised);
  const plans: Kept[] = [];
  const starts = new StartTable(ledger, context);
  const leading: Leading[] = [];
  for (const queued of lackingCapacity(ledger, context)) {
    const possible = starts.of(queued.entry.request);
    if (possible === undefined) continue;
    const { plan, isServable } = planOne(ledger, queued.entry, { ...possible, context, taken, promised });
    if (isServable && leads(queued, leading) && !isNominatedTenant(queued.tenant, nominated))
      leading.push(leadingOf(queued, plan));
    if (plan === undefined) continue;
    plans.push(plan);
    taken.add(plan.provider);
    if (plans.length === MAX_PLANS) break;
  }
  return { plans, leading };
}

function leads({ entry, tenant }: Queued, before: readonly Leading[]): boolean {
  const { priority = entry.request.priority } = before[0] ?? {};
  return entry.request.priority === priority && !before.some((other) => other.tenant === tenant);
}

function leadingOf({ entry: { id, request }, tenant }: Queued, plan: Kept | undefined): Leading {
  const { priority } = request;
  return { id, priority, tenant, ...(plan?.from === undefined ? {} : { from: plan.from }) };
}

/** The first of those that wait for capacity alone: none of them fits. */
export function* lackingCapacity(ledger: LedgerView, context: DecisionContext): Generator<Queued> {
  let lookedAt = 0;
  for (const queued of inOrder(ledger, context.policy)) {
    if (lookedAt++ === MAX_LOOKED_AT) return;
    if (barredBy(ledger, queued, context) === undefined) yield queued;
  }
}

/** Where requests of one kind could be served, whoever asks. */
interface PossibleStarts {
  /** Candidates that could serve it if they were empty. */
  readonly able: readonly Candidate[];
  /** The first comes first; of equals by name, so that all copies of a ledger plan alike. */
  readonly starts: readonly (Start & { readonly candidate: Candidate })[];
}

/** The possible starts by kind of request, each computed once. */
class StartTable {
  readonly #ledger: LedgerView;
  readonly #context: DecisionContext;
  readonly #byKind = new Map<string, PossibleStarts>();

  constructor(ledger: LedgerView, context: DecisionContext) {
    this.#ledger = ledger;
    this.#context = context;
  }

  /** Undefined: too many kinds. */
  of(request: ReservationRequest): PossibleStarts | undefined {
    const kind = kindOf(request);
    const known = this.#byKind.get(kind);
    if (known !== undefined || this.#byKind.size === MAX_KINDS) return known;
    const computed = this.#compute(request);
    this.#byKind.set(kind, computed);
    return computed;
  }

  #compute({ resources }: ReservationRequest): PossibleStarts {
    const ledger = this.#ledger;
    const { now, policy } = this.#context;
    const asked = { resources, now, turnaroundMs: policy.queue.turnaroundMs };
    const able = ledger.candidateTable.candidates.filter(({ clusterId }) =>
      couldServe(ledger, clusterId, resources),
    );
    const starts = able.flatMap((candidate) => {
      const account = ledger.accounts.get(candidate.clusterId);
      const start = account && startAt(ledger, account, asked);
      return start === undefined ? [] : { ...start, candidate };
    });
    return { able, starts: starts.sort((a, b) => a.from - b.from || (a.provider < b.provider ? -1 : 1)) };
  }
}

const kinds = /* @__PURE__ */ new WeakMap<ReservationRequest, string>();

/** Requests of one kind differ in who asks and how urgently. */
function kindOf(request: ReservationRequest): string {
  const known = kinds.get(request);
  if (known !== undefined) return known;
  const kind = requestFingerprint({ ...request, priority: 0 });
  kinds.set(request, kind);
  return kind;
}

interface Planning extends PossibleStarts {
  readonly context: DecisionContext;
  /** Providers with a plan or a nomination. */
  readonly taken: ReadonlySet<ClusterId>;
  /** Providers to which somebody is nominated. */
  readonly promised: ReadonlySet<ClusterId>;
}

interface Planned {
  readonly plan?: Kept;
  /** Some provider to which nobody is nominated could serve it if it were empty. */
  readonly isServable: boolean;
}

function planOne(
  ledger: LedgerView,
  entry: Waiting,
  { able, starts, context, taken, promised }: Planning,
): Planned {
  if (entry.nominated !== undefined) return { isServable: true };
  const isSuitable = suitability(ledger, entry, context);
  const start = starts.find(({ provider, candidate }) => !taken.has(provider) && isSuitable(candidate));
  if (start === undefined) {
    const isServable = able.some((each) => !promised.has(each.clusterId) && isSuitable(each));
    return { isServable };
  }
  const { id, request } = entry;
  const { candidate: _, ...when } = start;
  const plan = { id, priority: request.priority, resources: request.resources, ...when };
  return { plan, isServable: true };
}

/** Whether a candidate lacks nothing but capacity for this request. */
export function suitability(
  ledger: LedgerView,
  entry: Waiting,
  context: DecisionContext,
): (candidate: Candidate) => boolean {
  const tenant = tenantOf(context.policy, entry.requester, entry.namespace);
  const scheduling = schedulingFor(ledger, { ...entry, tenant }, context);
  const filters = FILTERS.filter((filter) => !ABOUT_CAPACITY.has(filter) && filter.applies(scheduling));
  return (candidate) => !filters.some((filter) => filter.rejects(candidate, scheduling));
}

const ABOUT_CAPACITY: ReadonlySet<Filter> = /* @__PURE__ */ new Set([
  capacity,
  keptForOthers,
  reservationLimit,
]);
