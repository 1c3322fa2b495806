import { UNMET_REASONS } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { currency, shownClusterId, time } from "../schema/terms.ts";
import { advertisementSchema } from "./advertisement.ts";
import { amountsSchema } from "./amounts.ts";
import { decisionIdentityFields, decisionResultFields } from "./decision.ts";
import { HISTORY_WINDOWS } from "./list-options.ts";
import { LIMIT } from "./protocol.ts";
import { reservationSchema } from "./reservation.ts";

const COUNT = t.count();
const MONEY = t.number(-1e15, 1e15);
const MAX_POINTS = 360;
const MAX_FLOWS = 500;
const MAX_CLUSTERS = 100_000;
/** Rows in one event. */
export const MAX_CHANGES = 200;

const series = {
  window: t.required(t.oneOf(...HISTORY_WINDOWS), "The time that is covered.", "hour"),
  from: t.required(time(), "Time of the first point.", "2026-07-01T09:00:00Z"),
  stepMs: t.required(COUNT, "Milliseconds between two points.", 10_000),
};

export const capacityHistorySchema = t.message(
  "CapacityHistoryDTO",
  "Capacity over time, of the fleet or of one cluster.",
  {
    ...series,
    points: t.required(
      t.array(
        t.object({
          available: t.optional(amountsSchema, "What could be lent. Absent: nothing was recorded."),
          reserved: t.optional(amountsSchema, "What was reserved."),
          allocatable: t.optional(amountsSchema, "What the nodes could give to pods."),
        }),
        MAX_POINTS,
      ),
      "Oldest first; empty where the broker did not run or did not know the cluster.",
    ),
  },
);
export type CapacityHistoryDTO = Infer<typeof capacityHistorySchema>;

const counts = t.array(COUNT, MAX_POINTS);

export const demandHistorySchema = t.message(
  "DemandHistoryDTO",
  "Granted and refused requests over time. A request that is repeated is counted when it was first refused. Requests above a quota are not counted.",
  {
    ...series,
    granted: t.required(counts, "Requests granted, one number for each point."),
    refused: t.required(
      t.array(
        t.object({
          reason: t.required(
            t.nonEmptyLine(63),
            "Why the cluster that came furthest did not fit.",
            "capacity",
          ),
          counts: t.required(counts, "Requests refused for it, one number for each point."),
        }),
        UNMET_REASONS.length,
      ),
      "Only reasons that occurred.",
    ),
  },
);
export type DemandHistoryDTO = Infer<typeof demandHistorySchema>;

const spend = t.array(
  t.object({
    id: t.required(shownClusterId(), "The cluster.", "rome"),
    spent: t.required(MONEY, "What was spent.", 1.27),
    saved: t.required(MONEY, "What was saved; negative: other scores counted more.", 0.31),
    reservations: t.required(COUNT, "How many reservations it is for.", 3),
  }),
  MAX_CLUSTERS,
);

export const spendingSchema = t.message("SpendingDTO", "What was spent and saved.", {
  window: series.window,
  currency: t.required(currency(), "Currency of all amounts.", "EUR"),
  spent: t.required(MONEY, "What live and ended reservations cost, for their time in the window."),
  saved: t.required(MONEY, "Compared with the mean price of the clusters that fitted."),
  byRequester: t.required(spend, "Largest first."),
  byProvider: t.required(spend, "Largest first."),
  unpriced: t.required(COUNT, "Reservations without a price.", 0),
});
export type SpendingDTO = Infer<typeof spendingSchema>;

export const flowsSchema = t.message("FlowsDTO", "Who lends to whom now.", {
  flows: t.required(
    t.array(
      t.object({
        provider: t.required(shownClusterId(), "The cluster that lends.", "paris"),
        requester: t.required(shownClusterId(), "The cluster that borrows.", "rome"),
        amounts: t.required(amountsSchema, "What it lends now."),
        reservations: t.required(COUNT, "In how many reservations.", 2),
      }),
      MAX_FLOWS,
    ),
    "Largest amount of the resource first, at most 500.",
  ),
  left: t.required(COUNT, "Flows beyond those listed.", 0),
});
export type FlowsDTO = Infer<typeof flowsSchema>;

export const decisionSummarySchema = t.message(
  "DecisionSummaryDTO",
  "A decision in one line; GET /api/v1/decisions/{id} has all of it.",
  {
    ...decisionIdentityFields,
    ...decisionResultFields,
    asked: t.required(t.line(LIMIT.reasonLength), "What was asked for, in words.", "4 CPU / 8Gi Memory"),
    reason: t.optional(
      t.line(63),
      "Of a refusal: why the cluster that came furthest did not fit.",
      "capacity",
    ),
  },
);
export type DecisionSummaryDTO = Infer<typeof decisionSummarySchema>;

export const decisionPageSchema = t.message(
  "DecisionPageDTO",
  "One page of the newest decisions; at most 1,000 are listed.",
  {
    items: t.required(t.array(decisionSummarySchema, LIMIT.pageMax), "The newest first."),
    total: t.required(COUNT, "How many match, on all pages.", 1),
  },
);
export type DecisionPageDTO = Infer<typeof decisionPageSchema>;

const partySchema = t.object({
  id: t.required(shownClusterId(), "The cluster.", "paris"),
  receivedAt: t.optional(time(), "When the broker last heard it. Absent: never.", "2026-07-01T10:00:00Z"),
  isStale: t.required(t.boolean(), "True: that was too long ago.", false),
  state: t.required(t.line(253), "What it does with the reservation, in words.", "holds the capacity"),
});

const TIMELINE_STEPS = ["requested", "reserved", "told", "enforced", "active", "end"] as const;

export const timelineSchema = t.message("TimelineDTO", "A reservation from its request to its end.", {
  reservation: t.required(reservationSchema, "The reservation."),
  steps: t.required(
    t.array(
      t.object({
        step: t.required(t.oneOf(...TIMELINE_STEPS), "The step.", "active"),
        at: t.optional(
          time(),
          "When it was reached. Absent: not reached (yet), or not known.",
          "2026-07-01T10:00:02Z",
        ),
        text: t.required(t.prose(8192), "What happened, or what is waited for.", "rome uses it"),
      }),
      TIMELINE_STEPS.length,
    ),
    "In this order.",
  ),
  requester: t.required(partySchema, "The cluster that borrows."),
  provider: t.required(partySchema, "The cluster that lends."),
  used: t.optional(amountsSchema, "What its pods request, as the provider said last. Absent: it has not."),
  costSoFar: t.optional(MONEY, "For the time it has held, in the currency of its cost.", 0.07),
  object: t.required(t.prose(262_144), "The Reservation object as YAML, as kubectl shows it."),
});
export type TimelineDTO = Infer<typeof timelineSchema>;

export const changesEventSchema = t.message(
  "ChangesEventDTO",
  "What changed, each row once and in its newest state. The event id is the commit number.",
  {
    clusters: t.required(t.array(advertisementSchema, MAX_CHANGES), "Clusters that changed."),
    reservations: t.required(t.array(reservationSchema, MAX_CHANGES), "Reservations that changed."),
    decisions: t.required(t.array(decisionSummarySchema, MAX_CHANGES), "New decisions."),
    queue: t.optional(
      t.boolean(),
      "True: requests have joined or left the queue, or capacity is kept for others; list it again. Absent: not that.",
    ),
    more: t.required(t.boolean(), "True: more than 200 of a kind changed; list again.", false),
  },
);
export type ChangesEventDTO = Infer<typeof changesEventSchema>;
