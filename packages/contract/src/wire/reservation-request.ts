import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import {
  clusterId,
  dnsLabel,
  duration,
  labelKey,
  labelValue,
  reservationName,
  time,
} from "../schema/terms.ts";
import { tierSchema } from "./cost.ts";
import { extendedCounts, requestedQuantitiesSchema, someQuantitiesSchema } from "./quantities.ts";

export const MAX_PRIORITY = 1_000_000_000;

const constraintsSchema = t.object({
  regions: t.optional(
    t.array(t.nonEmptyLine(63), 16),
    "Only clusters in one of these regions (label topology.kubernetes.io/region).",
    ["eu-west"],
  ),
  labels: t.optional(
    t.record(labelKey(), labelValue(), 16),
    "Only clusters that advertise all of these labels.",
    { tier: "gold" },
  ),
  excludeClusters: t.optional(t.array(clusterId(), 64), "Never these clusters.", ["tokyo"]),
});

/** What narrows a request down; shared by the wire, ResourceRequest and Reservation. */
export const requestOptionFields = {
  priority: t.optional(
    t.integer(-MAX_PRIORITY, MAX_PRIORITY),
    "Orders requests that arrive together or wait; higher first. Absent: 0.",
    10,
  ),
  duration: t.optional(
    duration("positive"),
    "How long the reservation lasts. Absent: until it is released.",
    "1h30m",
  ),
  targetClusterID: t.optional(clusterId(), "Only this cluster will do. Absent: the best one.", "paris"),
  constraints: t.optional(constraintsSchema, "Which clusters may provide the resources."),
  perNode: t.optional(someQuantitiesSchema, "What a single node must have, by its allocatable size.", {
    cpu: "4",
    gpu: "1",
  }),
  tier: t.optional(tierSchema, "Price tier that is asked for. Absent: on-demand.", "on-demand"),
  start: t.optional(
    time(),
    "When the reservation begins. Only now is served: leave it out.",
    "2026-07-01T10:00:00Z",
  ),
};

/** What lets a request wait, and for whom; shared by the wire and Reservation. */
export const waitOptionFields = {
  wait: t.optional(
    t.object({
      for: t.optional(
        duration("positive"),
        "The longest it may wait; at most the policy's queue.maxWait. Absent: as long as the policy allows.",
        "4h",
      ),
    }),
    "If nobody has room: wait in the queue instead of being refused. Over HTTP it needs an Idempotency-Key, and Agent-Protocol 3.",
  ),
  resumes: t.optional(
    reservationName(),
    "A reservation of the requester that was preempted in the last hour: if this request waits, it does so since that one was asked for. Only once.",
    "rsv-rome-k3u7dq2hvmx5b4ta",
  ),
  namespace: t.optional(
    dnsLabel(),
    "Namespace of the request in its own cluster: the policy may give it to a tenant.",
    "ml-training",
  ),
};

export const reservationRequestSchema = t.message(
  "ReservationRequestDTO",
  "Asks the broker for resources in another cluster.",
  {
    requestedResources: t.required(
      requestedQuantitiesSchema,
      "What is asked for; cpu and memory more than 0.",
    ),
    extended: t.optional(
      extendedCounts(),
      "Extended resources that are asked for; the same as requestedResources.extended.",
      { "amd.com/gpu": "1" },
    ),
    ...requestOptionFields,
    ...waitOptionFields,
  },
);
export type ReservationRequestDTO = Infer<typeof reservationRequestSchema>;

export const renewRequestSchema = t.message("RenewRequestDTO", "Extends a reservation.", {
  duration: t.required(duration("positive"), "How long the reservation shall last from now.", "1h"),
});
