import { MAX_RESERVATIONS_PER_REQUESTER } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, currency, decimal, duration, quantity } from "../schema/terms.ts";
import { costSchema } from "../wire/cost.ts";
import { someQuantityFields } from "../wire/quantities.ts";
import { MAX_PRIORITY } from "../wire/reservation-request.ts";
import { MAX_QUEUE } from "../wire/waiting.ts";

const MAX_CLUSTERS = 1000;
const MAX_SCORERS = 16;
const MAX_TENANTS = 256;

const scorerName = () =>
  t.matching("^[a-z][a-zA-Z0-9-]*$", "a scorer's name, such as latency", { maxLength: 63 });

const lendingRuleSchema = t.object({
  allow: t.optional(t.array(clusterId(), 256), "Only these clusters may borrow. Absent: everyone.", ["rome"]),
  deny: t.optional(t.array(clusterId(), 256), "These clusters may not borrow, even when allowed above.", [
    "tokyo",
  ]),
});

const pricesSchema = t.object({
  currency: t.optional(currency(), "Every price is compared in this currency. Absent: EUR.", "EUR"),
  rates: t.optional(
    t.record(currency(), t.positiveNumber(1e9), 200),
    "Worth of one unit of another currency in the currency above.",
    { USD: 0.92 },
  ),
  clusters: t.optional(
    t.record(clusterId(), costSchema, MAX_CLUSTERS),
    "Prices by cluster ID; they replace what the cluster advertises.",
  ),
});

const tenantName = () =>
  t.matching("^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$", "a tenant's name: lower-case letters, digits and '-'", {
    maxLength: 63,
  });
const namespacePattern = () =>
  t.matching(
    "^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$|^(?:[a-z0-9][-a-z0-9]*)?\\*$",
    "a namespace, or the beginning of names followed by *",
    { maxLength: 63 },
  );

const quotaFields = {
  ...someQuantityFields,
  reservations: t.optional(
    t.integer(0, MAX_RESERVATIONS_PER_REQUESTER),
    "How many live reservations, whatever their size.",
    500,
  ),
};
export const quotaSchema = t.titled(
  "QuotaDTO",
  t.object(quotaFields, { minProperties: 1 }),
  "The most that a requester may hold at once. Only what is named is limited.",
);
export type QuotaDTO = Infer<typeof quotaSchema>;

const tenantSchema = t.object({
  members: t.optional(
    t.array(
      t.object({
        cluster: t.required(clusterId(), "A cluster whose requests count for the tenant.", "rome"),
        namespaces: t.optional(
          t.array(namespacePattern(), 64),
          "Only requests from these namespaces; ml-* means every name that begins so. Absent: all.",
          ["ml-*"],
        ),
      }),
      256,
    ),
    "Whose requests count for the tenant. Every tenant needs some, except the one named default.",
    [{ cluster: "rome", namespaces: ["ml-*"] }],
  ),
  weight: t.optional(
    t.positiveNumber(1e6),
    "A tenant of twice the weight gets twice the share. Absent: 1.",
    3,
  ),
  quota: t.optional(quotaSchema, "The most that its clusters may hold together.", { gpu: "8" }),
  budget: t.optional(
    t.object({
      perDay: t.required(
        decimal(),
        "What its reservations may cost on one day (UTC), in the currency of prices. It stops grants and renewals and ends nothing.",
        "50",
      ),
    }),
    "What it may spend. Providers without a price lend it nothing. Absent: no limit.",
  ),
  maxPriority: t.optional(
    t.integer(-MAX_PRIORITY, MAX_PRIORITY),
    "Requests of a higher priority are refused. Absent: no limit.",
    100,
  ),
});
export type TenantDTO = Infer<typeof tenantSchema>;

const queueSchema = t.object({
  max: t.optional(
    t.integer(0, MAX_QUEUE),
    "The most requests that wait at once; 0: nobody may wait. Those that wait already stay. Absent: 10000.",
    10_000,
  ),
  perTenant: t.optional(t.integer(0, MAX_QUEUE), "The most of one tenant. Absent: 100.", 100),
  maxWait: t.optional(
    duration("positive"),
    "The longest a request may wait, and how long one waits that does not say. Absent: 24h.",
    "24h",
  ),
  turnaround: t.optional(
    duration("non-negative"),
    "Capacity is usable again this long after a reservation has ended. Absent: 5m.",
    "5m",
  ),
  holdAfter: t.optional(
    duration("positive"),
    "The first request for which no start can be computed gets a provider's capacity kept after this time, and one that others overtook after six times this. Absent: 10m.",
    "10m",
  ),
  backfill: t.optional(
    duration("non-negative"),
    "Requests of at most this duration may use capacity that is kept without a known start. Absent: 15m.",
    "15m",
  ),
});

const preemptionSchema = t.object({
  victims: t.optional(
    t.oneOf("none", "spot", "lower-priority"),
    "Who gives way to a waiting request. spot: reservations of the spot tier, to requests that are not. lower-priority: those too whose priority is lower by the gap. Absent: none.",
    "spot",
  ),
  minPriorityGap: t.optional(
    t.integer(1, MAX_PRIORITY),
    "By how much a victim's priority is lower, at least. Absent: 10.",
    10,
  ),
  grace: t.optional(
    duration("positive"),
    "Time between the notice and the end of a reservation, also in a drain that does not say. Absent: 5m.",
    "5m",
  ),
  minRun: t.optional(
    duration("non-negative"),
    "How long a reservation runs before it can get a notice. Absent: 10m.",
    "10m",
  ),
  maxUnderNotice: t.optional(
    t.matching("^(?:100|[1-9]?[0-9](?:\\.[0-9]{1,4})?)%$", "a percentage, such as 5%", { maxLength: 8 }),
    "The most of all reservations that are under notice at once; one may always be. Absent: 5%.",
    "5%",
  ),
});
export type PreemptionDTO = Infer<typeof preemptionSchema>;

/** The policy file, and the spec of a BrokerPolicy object. Everything may be left out. */
export const policySchema = t.message("PolicyDTO", "What the operator decides. Everything may be left out.", {
  version: t.optional(t.nonEmptyLine(253), "Names the policy in decision records.", "2026-07"),
  weights: t.optional(
    t.record(scorerName(), t.number(0, 1e6), MAX_SCORERS),
    "Weight of each scorer: resources, cost, or a name that ratings has. Absent: resources 0.7, cost 0.3.",
    { resources: 0.7, cost: 0.3 },
  ),
  ratings: t.optional(
    t.record(scorerName(), t.record(clusterId(), t.number(0, 1), MAX_CLUSTERS), MAX_SCORERS),
    "Marks from 0 to 1 by scorer and cluster ID.",
    { latency: { paris: 0.9 } },
  ),
  staleness: t.optional(
    duration("positive"),
    "An advertisement older than this is not lent from. Absent: 2m.",
    "2m",
  ),
  defaultTTL: t.optional(
    duration("positive"),
    "Lifetime of a reservation that states none. Absent: until released.",
    "8h",
  ),
  maxTTL: t.optional(
    duration("positive"),
    "Longest lifetime that may be asked for. Absent: no limit.",
    "168h",
  ),
  activationTimeout: t.optional(
    duration("positive"),
    "A reservation that is not activated within this time is released. Absent: never.",
    "10m",
  ),
  requesterLostAfter: t.optional(
    duration("positive"),
    "Reservations of a cluster that has been silent for this long are released. Absent: never.",
    "24h",
  ),
  refusalMemory: t.optional(
    duration("non-negative"),
    "How long a provider that refused a requester is not offered to it again. Absent: 10m.",
    "10m",
  ),
  prices: t.optional(pricesSchema, "Currency, rates, and prices set by the operator."),
  lending: t.optional(
    t.object({
      default: t.optional(
        lendingRuleSchema,
        "For providers without a rule of their own. Absent: lend to everyone.",
      ),
      clusters: t.optional(
        t.record(clusterId(), lendingRuleSchema, MAX_CLUSTERS),
        "Rules by the provider's cluster ID.",
      ),
    }),
    "Who may borrow from whom.",
  ),
  quotas: t.optional(
    t.record(clusterId(), quotaSchema, MAX_CLUSTERS),
    "The most a requester may hold at once, by cluster ID. What one does not name follows defaultQuota.",
    { rome: { cpu: "64", memory: "256Gi", reservations: 2000 } },
  ),
  defaultQuota: t.optional(
    quotaSchema,
    "The most that any other requester may hold at once. Absent: 500 reservations of any size.",
    { reservations: 500 },
  ),
  queue: t.optional(queueSchema, "How requests wait for capacity."),
  tenants: t.optional(
    t.record(tenantName(), tenantSchema, MAX_TENANTS),
    "Teams that share the fleet. A request that none of them claims counts for its own cluster, by the rules of the tenant default.",
    { ml: { members: [{ cluster: "rome", namespaces: ["ml-*"] }], weight: 3 } },
  ),
  preemption: t.optional(
    preemptionSchema,
    "Which reservations give way to waiting requests. Needs tenants.default.maxPriority unless nobody does.",
  ),
  disclosure: t.optional(
    t.oneOf("full", "reasons"),
    "full: refusals show other clusters' figures. reasons: only admins see figures. Absent: full.",
    "full",
  ),
  sliceDefaults: t.optional(
    t.object({
      pods: t.optional(t.integer(1, 100_000), "Pods a Liqo virtual node may run. Absent: 110.", 110),
      ephemeralStorage: t.optional(
        quantity("positive"),
        "Ephemeral storage of a virtual node whose request states none. Absent: 20Gi.",
        "20Gi",
      ),
    }),
    "What a virtual node gets beyond what was reserved. Not counted in the ledger.",
  ),
});
export type PolicyDTO = Infer<typeof policySchema>;
