import {
  array,
  boolean,
  integer,
  line,
  number,
  object,
  optional,
  prose,
  record,
  required,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { currency, decimal, dnsLabel, duration, shownClusterId, time } from "../schema/terms.ts";
import { reservationCostSchema } from "./cost.ts";
import { MAX_FLIP_LENGTH } from "./error.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema, shownQuantitiesSchema, someQuantitiesSchema } from "./quantities.ts";
import { reservationRequestSchema } from "./reservation-request.ts";

const COUNT = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const SHARE = number({ minimum: -1e9, maximum: 1e9 });
/** Names of filters and scorers. Newer brokers may know more of them: no closed list on the wire. */
const UNIT_NAME = line({ minLength: 1, maxLength: 63 });
const MAX_CANDIDATES = 64;

const candidateSchema = object({
  clusterID: required(shownClusterId(), "The cluster that was looked at.", { examples: ["paris"] }),
  advertisementAge: optional(duration("non-negative"), "How old its advertisement was.", {
    examples: ["12s"],
  }),
  reason: optional(UNIT_NAME, "The filter that passed it over. Absent: it fitted.", {
    examples: ["capacity"],
  }),
  message: optional(line({ maxLength: LIMIT.reasonLength }), "The same in words.", {
    examples: ["needs 3 more CPU"],
  }),
  missing: optional(someQuantitiesSchema, "What it lacked.", { examples: [{ cpu: "3" }] }),
  alsoRefusedBy: optional(
    array(UNIT_NAME, { maxItems: 32 }),
    "Filters that would have passed it over as well.",
  ),
  score: optional(SHARE, "Its total: the highest wins. Absent: it was passed over.", { examples: [0.71] }),
  parts: optional(
    record(UNIT_NAME, SHARE, { maxProperties: 32 }),
    "The score of each scorer, before weighting.",
    {
      examples: [{ resources: 0.62, cost: 0.92 }],
    },
  ),
  price: optional(decimal(), "What it asks for one hour, in the decision's currency. Absent: not priced.", {
    examples: ["0.336"],
  }),
  available: optional(shownQuantitiesSchema, "What it could lend at that moment."),
  allocatable: optional(resourceQuantitiesSchema, "What its nodes can give to pods."),
});

export const decisionSchema = titled(
  "DecisionDTO",
  object({
    id: required(dnsLabel(), "Names the decision.", { examples: ["dec-4f0q2"] }),
    at: required(time(), "When it was taken.", { examples: ["2026-07-01T10:00:00.123Z"] }),
    requesterID: required(shownClusterId(), "The cluster that asked.", { examples: ["rome"] }),
    request: required(reservationRequestSchema, "What it asked for."),
    policyVersion: required(line({ maxLength: 253 }), "The policy in force.", { examples: ["default"] }),
    weights: required(
      record(UNIT_NAME, SHARE, { maxProperties: 32 }),
      "Weight of each scorer in that policy.",
      {
        examples: [{ resources: 0.7, cost: 0.3 }],
      },
    ),
    currency: required(currency(), "Currency of all prices here.", { examples: ["EUR"] }),
    winner: optional(shownClusterId(), "The cluster that was chosen. Absent: nothing fitted.", {
      examples: ["paris"],
    }),
    considered: required(COUNT, "How many clusters were looked at.", { examples: [3] }),
    fitted: required(COUNT, "How many of them fitted.", { examples: [2] }),
    counts: required(
      record(UNIT_NAME, COUNT, { maxProperties: 32 }),
      "How many clusters each filter passed over.",
      {
        examples: [{ capacity: 1 }],
      },
    ),
    candidates: required(
      array(candidateSchema, { maxItems: MAX_CANDIDATES }),
      "Best first, then those passed over. All of them up to 64; beyond, the best or the nearest misses.",
    ),
    flip: optional(
      line({ maxLength: MAX_FLIP_LENGTH }),
      "The smallest change that would have turned the decision.",
      {
        examples: ["Would fit paris with 6 GPU instead of 8."],
      },
    ),
    explanation: required(prose({ maxLength: 65_536 }), "The whole decision as text for people."),
  }),
  "Why the broker chose, or refused, as it did.",
);
export type DecisionDTO = Infer<typeof decisionSchema>;

export const quoteSchema = titled(
  "QuoteDTO",
  object({
    fits: required(boolean(), "True when the request would be granted right now.", { examples: [true] }),
    targetClusterID: optional(shownClusterId(), "The cluster that would lend.", { examples: ["paris"] }),
    cost: optional(reservationCostSchema, "What it would cost. Absent: that cluster is not priced."),
    decision: required(decisionSchema, "The decision that would be taken. It is not kept."),
  }),
  "What would happen; nothing is written or held.",
);
export type QuoteDTO = Infer<typeof quoteSchema>;
