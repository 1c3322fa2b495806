import { WAITING_REASONS } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { dnsLabel, reservationName, shownClusterId, time } from "../schema/terms.ts";
import { tierSchema } from "./cost.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema } from "./quantities.ts";
import {
  endReasonSchema,
  generationSchema,
  idempotencyKeySchema,
  MAX_MESSAGE_LENGTH,
  phaseSchema,
} from "./reservation.ts";

export const waitingReasonSchema = t.oneOf(...WAITING_REASONS);

/** The number of waiting requests has no smaller bound than what a policy may allow. */
export const MAX_QUEUE = 100_000;

/** Where a request stands in the queue; the same on the wire and in the status of a ResourceRequest. */
export const queuePlaceFields = {
  position: t.required(t.integer(1, MAX_QUEUE), "Its place, from 1.", 2),
  of: t.required(t.integer(1, MAX_QUEUE), "How many requests wait.", 7),
  reason: t.required(
    waitingReasonSchema,
    "Why it waits. Capacity: nobody has room. Nomination: room is kept for a request that comes first. Quota: its cluster or tenant holds what it may. Budget: it would cost its tenant more than a day's budget. RequesterSilent: its agent has not been heard. Unsatisfiable: no cluster is large enough. Starting: it is granted next, or the broker has just started.",
    "Capacity",
  ),
  expectedStart: t.optional(
    time(),
    "Not before this time, by the ends that reservations have now. Absent: no start can be computed.",
    "2026-07-01T14:05:00Z",
  ),
  nominatedTo: t.optional(shownClusterId(), "The cluster whose capacity is kept for it.", "tokyo"),
};

/** Of a tenant with next to no weight. */
export const MAX_SHARE = 1e9;

/** The same with what decides the order. */
export const queueStandingFields = {
  ...queuePlaceFields,
  share: t.required(
    t.number(0, MAX_SHARE),
    "The share of the fleet that its tenant holds, divided by the tenant's weight. The lowest goes first among equal priorities.",
    0.125,
  ),
};

/** The place in one word, for people. */
export const placeField = t.required(
  t.nonEmptyLine(32),
  "Position and length of the queue, for people.",
  "2/7",
);

/** The same on the wire and in the status of a Reservation. */
export const sinceField = t.optional(
  time(),
  "Since when it waits, if it has taken over the place of a preempted reservation. Absent: since it was asked for.",
  "2026-07-01T09:00:00.123Z",
);

export const waitingRequestSchema = t.message(
  "WaitingRequestDTO",
  "A request that waits for capacity, or has left the queue without a reservation.",
  {
    id: t.required(reservationName(), "The ID that its reservation will have.", "rsv-rome-k3u7dq2hvmx5b4ta"),
    requesterID: t.required(shownClusterId(), "The cluster that asks.", "rome"),
    namespace: t.optional(dnsLabel(), "Namespace of the request in its own cluster.", "ml-training"),
    tenant: t.required(
      t.nonEmptyLine(253),
      "The tenant that it counts for: one that the policy names, else the cluster.",
      "ml",
    ),
    requestedResources: t.required(resourceQuantitiesSchema, "What is asked for."),
    status: t.required(
      t.object({
        phase: t.required(phaseSchema, "Pending, or how it left the queue: Released or Failed.", "Pending"),
        message: t.required(
          t.prose(MAX_MESSAGE_LENGTH),
          "The same in words.",
          "Waits for 4 CPU / 8Gi Memory: no cluster has room",
        ),
      }),
      "The state of the request.",
    ),
    createdAt: t.required(time(), "When it was asked for.", "2026-07-01T10:00:00.123Z"),
    since: sinceField,
    until: t.required(time(), "It fails if it has no reservation by then.", "2026-07-02T10:00:00.123Z"),
    endedAt: t.optional(time(), "When it left the queue. Absent: it waits.", "2026-07-01T11:30:00.123Z"),
    reason: t.optional(endReasonSchema, "Why it left the queue.", "WaitTimeout"),
    generation: t.required(
      generationSchema,
      "Grows with every change: a lower one than seen is old news.",
      1,
    ),
    key: t.optional(idempotencyKeySchema, "The idempotency key; only its requester sees it.", "5f1c8a3e-2"),
    tier: t.required(tierSchema, "The price tier that is asked for.", "on-demand"),
    priority: t.required(t.integer(-1_000_000_000, 1_000_000_000), "The priority it was asked with.", 10),
    queue: t.optional(
      t.object(queueStandingFields),
      "Its place. Absent where it is not computed, as in streams.",
    ),
  },
);
export type WaitingRequestDTO = Infer<typeof waitingRequestSchema>;

export const queuePageSchema = t.message("QueuePageDTO", "One page of the queue.", {
  items: t.required(
    t.array(waitingRequestSchema, LIMIT.pageMax),
    "Waiting requests in the order that is asked for; without one, in that of the queue: the first is granted first.",
  ),
  total: t.required(t.integer(0, MAX_QUEUE), "How many match, of those that the caller may see.", 7),
  next: t.optional(
    t.line(LIMIT.afterLength),
    "Ask for the next page with ?offset=<next>. Absent: this was the last.",
    "100",
  ),
});
export type QueuePageDTO = Infer<typeof queuePageSchema>;
