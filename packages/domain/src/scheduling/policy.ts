import type { ResourceVector } from "@resource-broker/base";
import { MAX_RESERVATIONS_PER_PROVIDER } from "../advertisement/advertisement.ts";
import type { CostModel } from "../cost/cost-model.ts";
import type { ClusterId } from "../reservation/ids.ts";
import type { ReservationRequest } from "../reservation/reservation.ts";

/** The operator's policy, from the policy file or a BrokerPolicy object. Reloaded on change, never mutated. */
export interface Policy {
  /** Names the rules in force; every decision record carries it. */
  readonly version: string;
  /** Weight of each scorer. `resources` and `cost` are built in; any other name reads `ratings`. */
  readonly weights: Readonly<Record<string, number>>;
  /** The operator's ratings from 0 to 1 by scorer name and cluster, for example latency or reliability. */
  readonly ratings: Readonly<Record<string, Readonly<Record<ClusterId, number>>>>;
  /** A cluster whose advertisement is older than this gets no new reservations. */
  readonly stalenessMs: number;
  /** Lifetime of a reservation that states none; undefined: until released. */
  readonly defaultTtlMs: number | undefined;
  /** Longest lifetime a request or renewal may ask for; undefined: no limit. */
  readonly maxTtlMs: number | undefined;
  /** A reservation not activated in this time is released; undefined: never. */
  readonly activationTimeoutMs: number | undefined;
  /** Reservations of a requester that has been silent for this long are released; undefined: never. */
  readonly requesterLostMs: number | undefined;
  /** How long a provider that refused a requester is not offered to it again. */
  readonly refusalMemoryMs: number;
  readonly prices: PricePolicy;
  readonly lending: LendingPolicy;
  /** The most a requester may hold at once, by cluster ID. Limits that an entry does not set come from `defaultQuota`. */
  readonly quotas: Readonly<Record<ClusterId, Quota>>;
  readonly defaultQuota: Quota;
  /** `reasons` hides amounts of other clusters from callers that are not admins. */
  readonly disclosure: "full" | "reasons";
  readonly queue: QueuePolicy;
  /** Teams that share the fleet, by name. A request that none of them claims counts for its own cluster. */
  readonly tenants: Readonly<Record<string, Tenant>>;
  readonly preemption: PreemptionPolicy;
}

/** Which reservations may have to give way to a request that waits. */
export interface PreemptionPolicy {
  /** `spot`: those of the spot tier. `lower-priority`: those too whose priority is lower by the gap. */
  readonly victims: "none" | "spot" | "lower-priority";
  readonly minPriorityGap: number;
  /** Time between the notice and the end. */
  readonly graceMs: number;
  /** The most of all live reservations that may be under notice at once, as a part from 0 to 1; at least one. */
  readonly maxUnderNotice: number;
  /** A reservation is left alone for this long after its grant. */
  readonly minRunMs: number;
}

/** Its rules are for requests that no tenant claims. */
export const DEFAULT_TENANT = "default";

/** How requests wait for capacity. */
export interface QueuePolicy {
  /** The most requests that wait at once; 0: none. Those that wait when it is lowered stay. */
  readonly max: number;
  readonly maxPerTenant: number;
  /** The longest a request may wait, and how long one waits that does not say. */
  readonly maxWaitMs: number;
  /** Capacity is usable again this long after a reservation has ended. */
  readonly turnaroundMs: number;
  /** The first request for which no start can be computed is nominated to a provider after this time. */
  readonly holdAfterMs: number;
  /** Requests of at most this duration may use what is kept for a nominated one. */
  readonly backfillMs: number;
}

export interface Tenant {
  readonly members: readonly TenantMember[];
  /** A tenant of twice the weight gets twice the share. */
  readonly weight: number;
  /** The most that its clusters may hold together. */
  readonly quota: Quota;
  readonly maxPriority?: number;
  readonly budget?: TenantBudget;
}

/** Stops grants and renewals, and ends nothing. */
export interface TenantBudget {
  /** For a UTC day, in whole micro-units (1e-6) of the currency of `prices`. */
  readonly perDay: number;
}

export interface TenantMember {
  readonly cluster: ClusterId;
  /** Names, or beginnings of names followed by `*`. Absent: every namespace. */
  readonly namespaces?: readonly string[];
}

export interface PricePolicy {
  /** Every price is compared in this currency. */
  readonly currency: string;
  /** Worth of one unit of another currency in `currency`. */
  readonly rates: Readonly<Record<string, number>>;
  /** Prices set by the operator; they replace what the cluster advertises. */
  readonly clusters: Readonly<Record<ClusterId, CostModel>>;
}

export interface LendingPolicy {
  /** Rules by provider; a provider without one follows `default`. */
  readonly default: LendingRule;
  readonly clusters: Readonly<Record<ClusterId, LendingRule>>;
}

/** Who may borrow from a provider. An absent `allow` list allows everyone; `deny` wins. */
export interface LendingRule {
  readonly allow?: readonly ClusterId[];
  readonly deny?: readonly ClusterId[];
}

/** Only the resources named are limited. */
export type ResourceLimits = Partial<Omit<ResourceVector, "extended">> & {
  readonly extended?: Readonly<Record<string, number>>;
};

export interface Quota extends ResourceLimits {
  /** The number of live reservations. */
  readonly reservations?: number;
}

/** How long a reservation for this request lasts; undefined: until it is released. */
export function lifetimeOf(
  { durationMs: asked }: Pick<ReservationRequest, "durationMs">,
  { defaultTtlMs, maxTtlMs }: Policy,
): number | undefined {
  const durationMs = asked ?? defaultTtlMs ?? maxTtlMs;
  return durationMs === undefined ? undefined : Math.min(durationMs, maxTtlMs ?? durationMs);
}

/** Half of what one provider can have: no requester alone can keep a provider from lending to others. */
const DEFAULT_MAX_RESERVATIONS = MAX_RESERVATIONS_PER_PROVIDER / 2;

export const DEFAULT_POLICY: Policy = {
  version: "default",
  weights: { resources: 0.7, cost: 0.3, latency: 0, reliability: 0 },
  ratings: {},
  stalenessMs: 120_000,
  defaultTtlMs: undefined,
  maxTtlMs: undefined,
  activationTimeoutMs: undefined,
  requesterLostMs: undefined,
  refusalMemoryMs: 600_000,
  prices: { currency: "EUR", rates: {}, clusters: {} },
  lending: { default: {}, clusters: {} },
  quotas: {},
  defaultQuota: { reservations: DEFAULT_MAX_RESERVATIONS },
  disclosure: "full",
  queue: {
    max: 10_000,
    maxPerTenant: 100,
    maxWaitMs: 24 * 3_600_000,
    turnaroundMs: 5 * 60_000,
    holdAfterMs: 10 * 60_000,
    backfillMs: 15 * 60_000,
  },
  tenants: {},
  preemption: {
    victims: "none",
    minPriorityGap: 10,
    graceMs: 5 * 60_000,
    maxUnderNotice: 0.05,
    minRunMs: 10 * 60_000,
  },
};
