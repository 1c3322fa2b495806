import { MAX_RESERVATIONS_PER_REQUESTER } from "@resource-broker/domain";
import {
  array,
  integer,
  line,
  matching,
  number,
  object,
  oneOf,
  optional,
  record,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, currency, duration, quantity } from "../schema/terms.ts";
import { costSchema } from "../wire/cost.ts";
import { someQuantityFields } from "../wire/quantities.ts";

const MAX_CLUSTERS = 1000;
const MAX_SCORERS = 16;

const scorerName = () =>
  matching("^[a-z][a-zA-Z0-9-]*$", "a scorer's name, such as latency", { maxLength: 63 });

const lendingRuleSchema = object({
  allow: optional(
    array(clusterId(), { maxItems: 256 }),
    "Only these clusters may borrow. Absent: everyone.",
    {
      examples: [["rome"]],
    },
  ),
  deny: optional(
    array(clusterId(), { maxItems: 256 }),
    "These clusters may not borrow, even when allowed above.",
    {
      examples: [["tokyo"]],
    },
  ),
});

const pricesSchema = object({
  currency: optional(currency(), "Every price is compared in this currency. Absent: EUR.", {
    examples: ["EUR"],
  }),
  rates: optional(
    record(currency(), number({ exclusiveMinimum: 0, maximum: 1e9 }), { maxProperties: 200 }),
    "Worth of one unit of another currency in the currency above.",
    { examples: [{ USD: 0.92 }] },
  ),
  clusters: optional(
    record(clusterId(), costSchema, { maxProperties: MAX_CLUSTERS }),
    "Prices by cluster ID; they replace what the cluster advertises.",
  ),
});

export const quotaSchema = titled(
  "QuotaDTO",
  object(
    {
      ...someQuantityFields,
      reservations: optional(
        integer({ minimum: 0, maximum: MAX_RESERVATIONS_PER_REQUESTER }),
        "How many live reservations, whatever their size.",
        { examples: [500] },
      ),
    },
    { minProperties: 1 },
  ),
  "The most that a requester may hold at once. Only what is named is limited.",
);
export type QuotaDTO = Infer<typeof quotaSchema>;

/** The policy file, and the spec of a BrokerPolicy object. Everything may be left out. */
export const policySchema = titled(
  "PolicyDTO",
  object({
    version: optional(line({ minLength: 1, maxLength: 253 }), "Names the policy in decision records.", {
      examples: ["2026-07"],
    }),
    weights: optional(
      record(scorerName(), number({ minimum: 0, maximum: 1e6 }), { maxProperties: MAX_SCORERS }),
      "Weight of each scorer: resources, cost, or a name that ratings has. Absent: resources 0.7, cost 0.3.",
      { examples: [{ resources: 0.7, cost: 0.3 }] },
    ),
    ratings: optional(
      record(
        scorerName(),
        record(clusterId(), number({ minimum: 0, maximum: 1 }), { maxProperties: MAX_CLUSTERS }),
        { maxProperties: MAX_SCORERS },
      ),
      "Marks from 0 to 1 by scorer and cluster ID.",
      { examples: [{ latency: { paris: 0.9 } }] },
    ),
    staleness: optional(
      duration("positive"),
      "An advertisement older than this is not lent from. Absent: 2m.",
      {
        examples: ["2m"],
      },
    ),
    defaultTTL: optional(
      duration("positive"),
      "Lifetime of a reservation that states none. Absent: until released.",
      {
        examples: ["8h"],
      },
    ),
    maxTTL: optional(duration("positive"), "Longest lifetime that may be asked for. Absent: no limit.", {
      examples: ["168h"],
    }),
    activationTimeout: optional(
      duration("positive"),
      "A reservation that is not activated within this time is released. Absent: never.",
      { examples: ["10m"] },
    ),
    requesterLostAfter: optional(
      duration("positive"),
      "Reservations of a cluster that has been silent for this long are released. Absent: never.",
      { examples: ["24h"] },
    ),
    refusalMemory: optional(
      duration("non-negative"),
      "How long a provider that refused a requester is not offered to it again. Absent: 10m.",
      { examples: ["10m"] },
    ),
    prices: optional(pricesSchema, "Currency, rates, and prices set by the operator."),
    lending: optional(
      object({
        default: optional(
          lendingRuleSchema,
          "For providers without a rule of their own. Absent: lend to everyone.",
        ),
        clusters: optional(
          record(clusterId(), lendingRuleSchema, { maxProperties: MAX_CLUSTERS }),
          "Rules by the provider's cluster ID.",
        ),
      }),
      "Who may borrow from whom.",
    ),
    quotas: optional(
      record(clusterId(), quotaSchema, { maxProperties: MAX_CLUSTERS }),
      "The most a requester may hold at once, by cluster ID. What one does not name follows defaultQuota.",
      { examples: [{ rome: { cpu: "64", memory: "256Gi", reservations: 2000 } }] },
    ),
    defaultQuota: optional(
      quotaSchema,
      "The most that any other requester may hold at once. Absent: 500 reservations of any size.",
      { examples: [{ reservations: 500 }] },
    ),
    disclosure: optional(
      oneOf("full", "reasons"),
      "full: refusals show other clusters' figures. reasons: only admins see figures. Absent: full.",
      { examples: ["full"] },
    ),
    sliceDefaults: optional(
      object({
        pods: optional(
          integer({ minimum: 1, maximum: 100_000 }),
          "Pods a Liqo virtual node may run. Absent: 110.",
          {
            examples: [110],
          },
        ),
        ephemeralStorage: optional(
          quantity("positive"),
          "Ephemeral storage of a virtual node whose request states none. Absent: 20Gi.",
          { examples: ["20Gi"] },
        ),
      }),
      "What a virtual node gets beyond what was reserved. Not counted in the ledger.",
    ),
  }),
  "What the operator decides. Everything may be left out.",
);
export type PolicyDTO = Infer<typeof policySchema>;
