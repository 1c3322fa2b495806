import { MAX_RESERVATIONS_PER_REQUESTER } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, currency, duration, quantity } from "../schema/terms.ts";
import { costSchema } from "../wire/cost.ts";
import { someQuantityFields } from "../wire/quantities.ts";

const MAX_CLUSTERS = 1000;
const MAX_SCORERS = 16;

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
