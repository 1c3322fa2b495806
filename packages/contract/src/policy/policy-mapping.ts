import { amountForm, closest, formatDuration, perResource } from "@resource-broker/base";
import {
  DEFAULT_POLICY,
  DEFAULT_TENANT,
  MICRO_UNITS,
  type Policy,
  type PricePolicy,
  type QueuePolicy,
  type Quota,
  type Tenant,
} from "@resource-broker/domain";
import { type AmountReader, amountReader } from "../mapping/amounts.ts";
import { formatDecimal, fromCostModel, toCostModel } from "../mapping/cost.ts";
import { mapValues, present } from "../mapping/present.ts";
import { toMilliseconds } from "../mapping/reservation-request.ts";
import type { Problem } from "../schema/problem.ts";
import { validateExactly } from "../schema/validate.ts";
import { type PolicyDTO, policySchema, type QuotaDTO, type TenantDTO } from "./policy-schema.ts";
import { fromPreemption, preemptionProblems, toPreemption } from "./preemption-mapping.ts";

/** Of a day, in the currency of prices: in millionths it is still a safe integer. */
const MAX_BUDGET = 1_000_000_000;

const BUILT_IN_SCORERS = ["resources", "cost"];

/** What a Liqo virtual node gets beyond what was reserved; the agent's business, not the ledger's. */
export interface SliceDefaults {
  readonly pods: number;
  readonly ephemeralStorage: string;
}

export const DEFAULT_SLICE: SliceDefaults = { pods: 110, ephemeralStorage: "20Gi" };

export type PolicyResult =
  | { readonly ok: true; readonly policy: Policy; readonly sliceDefaults: SliceDefaults }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads a policy file or a BrokerPolicy's spec. Everything left out has its default; a name that does not exist is
 * refused, because a typo in a limit must not mean "no limit". `version` names a policy that does not name itself.
 */
export function parsePolicy(input: unknown, version: string = DEFAULT_POLICY.version): PolicyResult {
  const validated = validateExactly(policySchema, input ?? {});
  if (!validated.ok) return validated;
  const dto = validated.value;
  const problems = crossFieldProblems(dto);
  if (problems.length > 0) return { ok: false, problems };
  const reader = amountReader();
  const sliceDefaults = { ...DEFAULT_SLICE, ...dto.sliceDefaults };
  // Providers parse it: no provider would accept an amount that is out of range.
  reader.bytes(sliceDefaults.ephemeralStorage, "sliceDefaults.ephemeralStorage");
  const result = reader.finish(toPolicy(dto, reader, version));
  return result.ok ? { ok: true, policy: result.value, sliceDefaults } : result;
}

function toPolicy(dto: PolicyDTO, reader: AmountReader, version: string): Policy {
  const {
    lending = {},
    prices = {},
    quotas = {},
    defaultQuota = {},
    queue = {},
    tenants = {},
    preemption = {},
  } = dto;
  const stated = present({
    weights: dto.weights,
    ratings: dto.ratings,
    stalenessMs: milliseconds(dto.staleness),
    defaultTtlMs: milliseconds(dto.defaultTTL),
    maxTtlMs: milliseconds(dto.maxTTL),
    activationTimeoutMs: milliseconds(dto.activationTimeout),
    requesterLostMs: milliseconds(dto.requesterLostAfter),
    refusalMemoryMs: milliseconds(dto.refusalMemory),
    disclosure: dto.disclosure,
  });
  return {
    ...DEFAULT_POLICY,
    ...stated,
    version: dto.version ?? version,
    prices: toPrices(prices),
    lending: { ...DEFAULT_POLICY.lending, ...lending },
    quotas: mapValues(quotas, (limits, clusterId) => toQuota(limits, `quotas.${clusterId}`, reader)),
    defaultQuota: { ...DEFAULT_POLICY.defaultQuota, ...toQuota(defaultQuota, "defaultQuota", reader) },
    queue: { ...DEFAULT_POLICY.queue, ...toQueuePolicy(queue) },
    tenants: mapValues(tenants, (tenant, name) => toTenant(tenant, `tenants.${name}`, reader)),
    preemption: toPreemption(preemption),
  };
}

function toQueuePolicy(dto: NonNullable<PolicyDTO["queue"]>): Partial<QueuePolicy> {
  return present({
    max: dto.max,
    maxPerTenant: dto.perTenant,
    maxWaitMs: milliseconds(dto.maxWait),
    turnaroundMs: milliseconds(dto.turnaround),
    holdAfterMs: milliseconds(dto.holdAfter),
    backfillMs: milliseconds(dto.backfill),
  });
}

function toTenant(dto: TenantDTO, path: string, reader: AmountReader): Tenant {
  const { members = [], weight = 1, quota, budget, maxPriority } = dto;
  return present({
    members,
    weight,
    budget: budget && { perDay: Math.round(Number(budget.perDay) * MICRO_UNITS) },
    quota: quota === undefined ? {} : toQuota(quota, `${path}.quota`, reader),
    maxPriority,
  });
}

function toPrices(dto: NonNullable<PolicyDTO["prices"]>): PricePolicy {
  return {
    currency: dto.currency ?? DEFAULT_POLICY.prices.currency,
    rates: dto.rates ?? {},
    clusters: mapValues(dto.clusters ?? {}, (cost) => toCostModel(cost)),
  };
}

/** Only what is named is limited: a quota without GPUs says nothing about them, one of 0 forbids them. */
function toQuota(dto: QuotaDTO, path: string, reader: AmountReader): Quota {
  const vector = reader.roundedDown(dto, path);
  return present({
    ...perResource("slot", ({ name, slot }) => (dto[name] === undefined ? undefined : vector[slot])),
    // A vector leaves zeros out; a limit of zero must stay.
    extended: dto.extended && mapValues(dto.extended, (_, name) => vector.extended[name] ?? 0),
    reservations: dto.reservations,
  });
}

function milliseconds(duration: string | undefined): number | undefined {
  return duration === undefined ? undefined : toMilliseconds(duration);
}

/** The policy in force, in the form of the policy file and with the defaults written out. */
export function fromPolicy(policy: Policy, sliceDefaults: SliceDefaults): PolicyDTO {
  const { prices } = policy;
  return present({
    version: policy.version,
    weights: policy.weights,
    ratings: policy.ratings,
    staleness: formatDuration(policy.stalenessMs),
    defaultTTL: durationOf(policy.defaultTtlMs),
    maxTTL: durationOf(policy.maxTtlMs),
    activationTimeout: durationOf(policy.activationTimeoutMs),
    requesterLostAfter: durationOf(policy.requesterLostMs),
    refusalMemory: formatDuration(policy.refusalMemoryMs),
    prices: { ...prices, clusters: mapValues(prices.clusters, (model) => fromCostModel(model)) },
    lending: policy.lending,
    quotas: mapValues(policy.quotas, (quota) => fromQuota(quota)),
    defaultQuota: fromQuota(policy.defaultQuota),
    queue: fromQueuePolicy(policy.queue),
    tenants: mapValues(policy.tenants, (tenant) => fromTenant(tenant)),
    preemption: fromPreemption(policy.preemption),
    disclosure: policy.disclosure,
    sliceDefaults,
  });
}

function fromQueuePolicy(queue: QueuePolicy): NonNullable<PolicyDTO["queue"]> {
  return {
    max: queue.max,
    perTenant: queue.maxPerTenant,
    maxWait: formatDuration(queue.maxWaitMs),
    turnaround: formatDuration(queue.turnaroundMs),
    holdAfter: formatDuration(queue.holdAfterMs),
    backfill: formatDuration(queue.backfillMs),
  };
}

function fromTenant({ members, weight, quota, budget, maxPriority }: Tenant): TenantDTO {
  return present({
    members: members.length === 0 ? undefined : members,
    weight,
    quota: Object.keys(quota).length === 0 ? undefined : fromQuota(quota),
    budget: budget && { perDay: formatDecimal(budget.perDay / MICRO_UNITS) },
    maxPriority,
  });
}

export function fromQuota(quota: Quota): QuotaDTO {
  const { extended, reservations } = quota;
  return present({
    ...perResource("name", ({ slot, form }) => {
      const limit = quota[slot];
      return limit === undefined ? undefined : form.format(limit);
    }),
    extended: extended && mapValues(extended, (amount, name) => amountForm(name).format(amount)),
    reservations,
  });
}

function durationOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : formatDuration(ms);
}

/** Cross-field validation of a policy. */
function crossFieldProblems(dto: PolicyDTO): Problem[] {
  return [
    ...weightProblems(dto),
    ...ttlProblems(dto),
    ...priceProblems(dto),
    ...tenantProblems(dto),
    ...preemptionProblems(dto),
  ];
}

function weightProblems({ weights, ratings = {} }: PolicyDTO): Problem[] {
  if (weights === undefined) return [];
  const given = Object.entries(weights).filter(([, weight]) => weight > 0);
  if (given.length === 0) return [{ path: "weights", message: "at least one weight must be more than 0" }];
  const scorers = [...BUILT_IN_SCORERS, ...Object.keys(ratings)];
  return given.filter(([name]) => !scorers.includes(name)).map(([name]) => unknownScorer(name, scorers));
}

/** A weight without ratings would silently have no effect. */
function unknownScorer(name: string, scorers: readonly string[]): Problem {
  const meant = closest(name, scorers);
  const advice = meant === undefined ? `add ratings.${name}` : `did you mean ${JSON.stringify(meant)}?`;
  return { path: `weights.${name}`, message: `has a weight but no ratings; ${advice}` };
}

function ttlProblems({ defaultTTL, maxTTL }: PolicyDTO): Problem[] {
  if (defaultTTL === undefined || maxTTL === undefined) return [];
  if (toMilliseconds(defaultTTL) <= toMilliseconds(maxTTL)) return [];
  return [{ path: "defaultTTL", message: `must not be longer than maxTTL (${maxTTL})` }];
}

function priceProblems({ prices = {} }: PolicyDTO): Problem[] {
  const { currency: base = DEFAULT_POLICY.prices.currency, rates = {}, clusters = {} } = prices;
  return Object.entries(clusters)
    .filter(([, { currency }]) => currency !== base && !Object.hasOwn(rates, currency))
    .map(([clusterId, { currency }]) => ({
      path: `prices.clusters.${clusterId}.currency`,
      message: `${currency} has no rate; write prices.rates.${currency}, its worth in ${base}`,
    }));
}

function tenantProblems({ tenants = {} }: PolicyDTO): Problem[] {
  const entries = Object.entries(tenants);
  return [...entries.flatMap(([name, tenant]) => problemsOf(name, tenant)), ...overlapProblems(tenants)];
}

function problemsOf(name: string, { members = [], budget }: TenantDTO): Problem[] {
  const path = `tenants.${name}`;
  const isTooMuch = Number(budget?.perDay ?? 0) > MAX_BUDGET;
  const money = isTooMuch
    ? [{ path: `${path}.budget.perDay`, message: `must be at most ${MAX_BUDGET}` }]
    : [];
  const isDefault = name === DEFAULT_TENANT;
  if (isDefault === (members.length === 0)) return money;
  const message = isDefault
    ? "must be left out: default is for requests that no tenant claims"
    : "name at least one cluster";
  return [...money, { path: `${path}.members`, message }];
}

/** A request must have one tenant, whatever the order of the file. */
function overlapProblems(tenants: Readonly<Record<string, TenantDTO>>): Problem[] {
  const byCluster = new Map<string, { readonly name: string; readonly pattern: string }[]>();
  const problems: Problem[] = [];
  for (const { name, cluster, pattern } of claimsIn(tenants)) {
    const claimed = byCluster.get(cluster) ?? [];
    const other = claimed.find((each) => each.name !== name && overlap(each.pattern, pattern));
    byCluster.set(cluster, claimed);
    claimed.push({ name, pattern });
    if (other === undefined) continue;
    const message = `claims namespaces of ${cluster} that ${other.name} claims, too (${pattern}, ${other.pattern}); a request has one tenant`;
    problems.push({ path: `tenants.${name}.members`, message });
  }
  return problems;
}

function* claimsIn(tenants: Readonly<Record<string, TenantDTO>>) {
  for (const [name, { members = [] }] of Object.entries(tenants))
    for (const { cluster, namespaces = ["*"] } of members)
      for (const pattern of namespaces) yield { name, cluster, pattern };
}

function overlap(a: string, b: string): boolean {
  const [first, second] = [a.replace("*", ""), b.replace("*", "")];
  if (!a.endsWith("*")) return b.endsWith("*") ? a.startsWith(second) : a === b;
  return b.endsWith("*") ? first.startsWith(second) || second.startsWith(first) : b.startsWith(first);
}
