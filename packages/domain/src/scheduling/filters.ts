import {
  describeResources,
  fits,
  isZero,
  lookup,
  type ResourceVector,
  shortage,
} from "@resource-broker/base";
import { MAX_RESERVATIONS_PER_PROVIDER, REGION_LABEL } from "../advertisement/advertisement.ts";
import { describeExcess, firstExcess } from "../queue/budget.ts";
import { isKeptForOther } from "../queue/kept.ts";
import type { ClusterId } from "../reservation/ids.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";
import { type Candidate, hasMaxReservations } from "./candidate-table.ts";
import { describeAge, describeShortage } from "./describe.ts";
import type { LendingRule, Policy } from "./policy.ts";
import type { SchedulingContext } from "./scheduling-context.ts";

export const FILTER_NAMES = [
  "self",
  "target",
  "excluded",
  "region",
  "labels",
  "cordoned",
  "lending-policy",
  "refused-recently",
  "stale",
  "reservation-limit",
  "capacity",
  "kept-for-others",
  "node-shape",
  "unpriced",
  "budget",
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];

/** Why a candidate was rejected: machine-readable (`filter`, `missing`) and as text (`message`). */
export interface Refusal {
  readonly filter: FilterName;
  readonly message: string;
  /** The same text without amounts of other clusters, for callers that may not see them. */
  readonly summary: string;
  readonly missing?: ResourceVector;
}

/** A filter. `applies` runs once per decision, `rejects` once per candidate and must be cheap. */
export interface Filter {
  readonly name: FilterName;
  /** Set when the filter can only reject flagged candidates (see `isFlagged`): the others skip it. */
  readonly rejectsOnlyFlagged?: true;
  readonly applies: (context: SchedulingContext) => boolean;
  readonly rejects: (candidate: Candidate, context: SchedulingContext) => boolean;
  readonly refusal: (candidate: Candidate, context: SchedulingContext) => Omit<Refusal, "filter">;
}

const always = (): boolean => true;
const sameSummary = (message: string) => ({ message, summary: message });

export const self: Filter = {
  name: "self",
  applies: always,
  rejects: (candidate, { requester }) => candidate.clusterId === requester,
  refusal: () => sameSummary("is the requester itself"),
};

const target: Filter = {
  name: "target",
  applies: ({ request }) => request.target !== undefined,
  rejects: (candidate, { request }) => candidate.clusterId !== request.target,
  refusal: (_, { request }) => sameSummary(`is not the target asked for (${request.target})`),
};

const excluded: Filter = {
  name: "excluded",
  applies: ({ request }) => request.constraints.excludeClusters !== undefined,
  rejects: (candidate, { request }) =>
    request.constraints.excludeClusters?.includes(candidate.clusterId) === true,
  refusal: () => sameSummary("is excluded by the request"),
};

const region: Filter = {
  name: "region",
  applies: ({ request }) => (request.constraints.regions?.length ?? 0) > 0,
  rejects: (candidate, { request }) =>
    !(request.constraints.regions ?? []).includes(labelOf(candidate, REGION_LABEL) ?? ""),
  refusal: (candidate, { request }) => {
    const wanted = request.constraints.regions?.join(", ");
    return sameSummary(`is in region ${labelOf(candidate, REGION_LABEL) ?? "unknown"}, not in ${wanted}`);
  },
};

const labels: Filter = {
  name: "labels",
  applies: ({ request }) => request.constraints.labels !== undefined,
  rejects: (candidate, { request }) => missingLabels(candidate, request).length > 0,
  refusal: (candidate, { request }) =>
    sameSummary(`lacks label ${missingLabels(candidate, request).join(", ")}`),
};

/** Uncordoning does not help there. */
export const WAS_EVICTED = "was evicted";

const cordoned: Filter = {
  name: "cordoned",
  rejectsOnlyFlagged: true,
  applies: always,
  rejects: ({ cordon, evictedAt }) => cordon !== undefined || evictedAt !== undefined,
  refusal: (candidate) => {
    if (candidate.evictedAt !== undefined) return sameSummary(WAS_EVICTED);
    const why = candidate.cordon?.why;
    return sameSummary(why === undefined ? "is cordoned" : `is cordoned: ${why}`);
  },
};

const lendingPolicy: Filter = {
  name: "lending-policy",
  applies: ({ policy }) =>
    Object.keys(policy.lending.clusters).length > 0 || !isOpenToAll(policy.lending.default),
  rejects: (candidate, { requester, policy }) =>
    !mayLend(policy, { provider: candidate.clusterId, requester }),
  refusal: (_, { requester }) => sameSummary(`does not lend to ${requester} (lending policy)`),
};

const refusedRecently: Filter = {
  name: "refused-recently",
  rejectsOnlyFlagged: true,
  applies: always,
  rejects: (candidate, context) => refusalAge(candidate, context) !== undefined,
  refusal: (candidate, context) => {
    const age = describeAge(refusalAge(candidate, context) ?? 0);
    return sameSummary(`refused ${context.requester} ${age} ago`);
  },
};

export const stale: Filter = {
  name: "stale",
  applies: always,
  rejects: (candidate, { now, policy }) => now - candidate.receivedAt > policy.stalenessMs,
  refusal: (candidate, { now }) =>
    sameSummary(`advertisement ${describeAge(now - candidate.receivedAt)} old`),
};

export const reservationLimit: Filter = {
  name: "reservation-limit",
  rejectsOnlyFlagged: true,
  applies: always,
  rejects: (candidate) => hasMaxReservations(candidate),
  refusal: ({ reservationCount }) => ({
    message: `has ${reservationCount} reservations; the maximum is ${MAX_RESERVATIONS_PER_PROVIDER}`,
    summary: "has the maximum number of reservations",
  }),
};

export const capacity: Filter = {
  name: "capacity",
  applies: always,
  rejects: (candidate, { request }) => !fits(request.resources, candidate.available),
  refusal: (candidate, { request }) => {
    const missing = shortage(request.resources, candidate.available);
    const described = describeShortage(missing, candidate.advertisement.allocatable);
    return { missing, ...described, message: `${described.message}${withheldText(candidate)}` };
  },
};

export const keptForOthers: Filter = {
  name: "kept-for-others",
  rejectsOnlyFlagged: true,
  applies: always,
  rejects: isKeptForOther,
  refusal: ({ kept }) => {
    const amount = kept === undefined ? "" : ` ${describeResources(kept.resources)}`;
    const from = kept?.from === undefined ? "" : ` from ${new Date(kept.from).toISOString()}`;
    return {
      message: `keeps${amount}${from} for a request that waits`,
      summary: "keeps what it has for a request that waits",
    };
  },
};

const nodeShape: Filter = {
  name: "node-shape",
  applies: ({ request }) => request.perNode !== undefined,
  rejects: (candidate, { request }) =>
    request.perNode !== undefined && !fitsSomeNode(candidate, request.perNode),
  refusal: (candidate) =>
    sameSummary(
      candidate.advertisement.nodeShapes.length === 0
        ? "does not say how large its nodes are"
        : "has no single node large enough",
    ),
};

/** Only tenants with a budget: what has no price could not be charged. */
const unpriced: Filter = {
  name: "unpriced",
  applies: ({ budget }) => budget !== undefined,
  rejects: (candidate, { budget }) => budget !== undefined && Number.isNaN(budget.priceOf(candidate)),
  refusal: (_, { budget }) => sameSummary(`has no price for this, and tenant ${budget?.tenant} has a budget`),
};

const overBudget: Filter = {
  name: "budget",
  applies: ({ budget }) => budget !== undefined,
  rejects: (candidate, { budget }) =>
    budget !== undefined && firstExcess(budget, budget.priceOf(candidate)) !== undefined,
  refusal: (candidate, { budget }) => {
    const excess = budget && firstExcess(budget, budget.priceOf(candidate));
    const summary = "costs more than the budget of its tenant allows";
    return { message: budget && excess ? describeExcess(budget, excess) : summary, summary };
  },
};

/** In this order: permission, availability, capacity, budget. The first filter that rejects gives the reason. */
export const FILTERS: readonly Filter[] = [
  self,
  target,
  excluded,
  region,
  labels,
  cordoned,
  lendingPolicy,
  refusedRecently,
  stale,
  reservationLimit,
  capacity,
  keptForOthers,
  nodeShape,
  unpriced,
  overBudget,
];

/** True when the policy lets this provider lend to this requester. */
export function mayLend(
  { lending }: Policy,
  { provider, requester }: { readonly provider: ClusterId; readonly requester: ClusterId },
): boolean {
  return allowsRequester(requester, lookup(lending.clusters, provider) ?? lending.default);
}

function allowsRequester(requester: ClusterId, rule: LendingRule): boolean {
  if (rule.deny?.includes(requester) === true) return false;
  return rule.allow === undefined || rule.allow.includes(requester);
}

/** Time since the candidate last refused this requester, within `refusalMemoryMs`. */
function refusalAge(candidate: Candidate, { requester, now, policy }: SchedulingContext): number | undefined {
  let youngest: number | undefined;
  for (const refused of candidate.refused?.values() ?? []) {
    const age = now - (refused.endedAt ?? 0);
    const counts = refused.requester === requester && age < policy.refusalMemoryMs;
    if (counts && age < (youngest ?? age + 1)) youngest = age;
  }
  return youngest;
}

/** Explains why less is available than the cluster advertises. */
function withheldText({ withheld }: Candidate): string {
  if (isZero(withheld)) return "";
  return `; ${describeResources(withheld)} reserved from other clusters are not counted: its older agent includes them in its capacity`;
}

function fitsSomeNode(candidate: Candidate, perNode: ResourceVector): boolean {
  return candidate.advertisement.nodeShapes.some(
    (shape) => shape.count > 0 && fits(perNode, shape.resources),
  );
}

function labelOf(candidate: Candidate, name: string): string | undefined {
  return lookup(candidate.advertisement.labels, name);
}

function missingLabels(candidate: Candidate, request: ReservationRequest): string[] {
  return Object.entries(request.constraints.labels ?? {})
    .filter(([name, value]) => labelOf(candidate, name) !== value)
    .map(([name, value]) => `${name}=${value}`);
}

function isOpenToAll(rule: LendingRule): boolean {
  return rule.allow === undefined && rule.deny === undefined;
}
