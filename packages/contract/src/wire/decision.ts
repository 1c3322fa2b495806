import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { currency, decimal, dnsLabel, duration, shownClusterId, time } from "../schema/terms.ts";
import { reservationCostSchema, tierSchema } from "./cost.ts";
import { MAX_FLIP_LENGTH } from "./error.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema, shownQuantitiesSchema, someQuantitiesSchema } from "./quantities.ts";
import { reservationRequestSchema } from "./reservation-request.ts";

const COUNT = t.count();
const SHARE = t.number(-1e9, 1e9);
/** Names of filters and scorers. Newer brokers may know more of them: no closed list on the wire. */
const UNIT_NAME = t.nonEmptyLine(63);
const MAX_CANDIDATES = 64;

const candidateSchema = t.object({
  clusterID: t.required(shownClusterId(), "The cluster that was looked at.", "paris"),
  advertisementAge: t.optional(duration("non-negative"), "How old its advertisement was.", "12s"),
  reason: t.optional(UNIT_NAME, "The filter that passed it over. Absent: it fitted.", "capacity"),
  message: t.optional(t.line(LIMIT.reasonLength), "The same in words.", "needs 3 more CPU"),
  missing: t.optional(someQuantitiesSchema, "What it lacked.", { cpu: "3" }),
  alsoRefusedBy: t.optional(t.array(UNIT_NAME, 32), "Filters that would have passed it over as well."),
  score: t.optional(SHARE, "Its total: the highest wins. Absent: it was passed over.", 0.71),
  parts: t.optional(t.record(UNIT_NAME, SHARE, 32), "The score of each scorer, before weighting.", {
    resources: 0.62,
    cost: 0.92,
  }),
  price: t.optional(
    decimal(),
    "What it asks for one hour, in the decision's currency. Absent: not priced.",
    "0.336",
  ),
  available: t.optional(shownQuantitiesSchema, "What it could lend at that moment."),
  allocatable: t.optional(resourceQuantitiesSchema, "What its nodes can give to pods."),
});

/** A provider lends at most this many reservations. */
const MAX_VICTIMS = 1000;
const MAX_ALTERNATIVES = 4;

const victimSchema = t.object({
  reservationID: t.required(dnsLabel(), "The reservation.", "rsv-oslo-4f0q2"),
  priority: t.required(t.integer(-1_000_000_000, 1_000_000_000), "Its priority.", 0),
  tier: t.required(tierSchema, "Its price tier.", "spot"),
  reservedAt: t.required(time(), "Since when it was reserved.", "2026-07-01T09:00:00.123Z"),
  frees: t.required(shownQuantitiesSchema, "What its end gives back."),
});

const noticeOptionSchema = t.object({
  clusterID: t.required(shownClusterId(), "The provider.", "paris"),
  free: t.required(
    shownQuantitiesSchema,
    "What it has free; below zero where it has promised more than it has.",
  ),
  victims: t.required(t.array(victimSchema, MAX_VICTIMS), "The reservations that must end there."),
  share: t.required(SHARE, "The largest part of what the fleet lends that they give back.", 0.125),
});

const noticeSchema = t.object({
  until: t.required(time(), "When the victims end.", "2026-07-01T10:05:00.123Z"),
  chosen: t.required(noticeOptionSchema, "Where reservations got notice."),
  alternatives: t.required(
    t.array(noticeOptionSchema, MAX_ALTERNATIVES),
    "Where others could have got it, the best first.",
  ),
});

/** Which decision it is; also of its summary. */
export const decisionIdentityFields = {
  id: t.required(dnsLabel(), "Names the decision.", "dec-4f0q2"),
  at: t.required(time(), "When it was taken.", "2026-07-01T10:00:00.123Z"),
  requesterID: t.required(shownClusterId(), "The cluster that asked.", "rome"),
};

/** How it ended; also of its summary. */
export const decisionResultFields = {
  winner: t.optional(shownClusterId(), "The cluster that was chosen. Absent: nothing fitted.", "paris"),
  considered: t.required(COUNT, "How many clusters were looked at.", 3),
  fitted: t.required(COUNT, "How many of them fitted.", 2),
};

export const decisionSchema = t.message("DecisionDTO", "Why the broker chose, or refused, as it did.", {
  ...decisionIdentityFields,
  request: t.required(reservationRequestSchema, "What it asked for."),
  policyVersion: t.required(t.line(253), "The policy in force.", "default"),
  weights: t.required(t.record(UNIT_NAME, SHARE, 32), "Weight of each scorer in that policy.", {
    resources: 0.7,
    cost: 0.3,
  }),
  currency: t.required(currency(), "Currency of all prices here.", "EUR"),
  ...decisionResultFields,
  counts: t.required(t.record(UNIT_NAME, COUNT, 32), "How many clusters each filter passed over.", {
    capacity: 1,
  }),
  candidates: t.required(
    t.array(candidateSchema, MAX_CANDIDATES),
    "Best first, then those passed over. All of them up to 64; beyond, the best or the nearest misses.",
  ),
  notice: t.optional(
    noticeSchema,
    "The reservations that got notice, so that the request can start. Only admins see it. Absent: none got notice.",
  ),
  flip: t.optional(
    t.line(MAX_FLIP_LENGTH),
    "The smallest change that would have turned the decision.",
    "Would fit paris with 6 GPU instead of 8.",
  ),
  explanation: t.required(t.prose(65_536), "The whole decision as text for people."),
});
export type DecisionDTO = Infer<typeof decisionSchema>;

export const quoteSchema = t.message("QuoteDTO", "What would happen; nothing is written or held.", {
  fits: t.required(t.boolean(), "True when the request would be granted right now.", true),
  targetClusterID: t.optional(shownClusterId(), "The cluster that would lend.", "paris"),
  cost: t.optional(reservationCostSchema, "What it would cost. Absent: that cluster is not priced."),
  decision: t.required(decisionSchema, "The decision that would be taken. It is not kept."),
});
export type QuoteDTO = Infer<typeof quoteSchema>;
