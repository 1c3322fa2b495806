import { array, integer, line, object, optional, record, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, duration, labelKey, labelValue, time } from "../schema/terms.ts";
import { tierSchema } from "./cost.ts";
import { extendedCounts, requestedQuantitiesSchema, someQuantitiesSchema } from "./quantities.ts";

const MAX_PRIORITY = 1_000_000_000;

const constraintsSchema = object({
  regions: optional(
    array(line({ minLength: 1, maxLength: 63 }), { maxItems: 16 }),
    "Only clusters in one of these regions (label topology.kubernetes.io/region).",
    { examples: [["eu-west"]] },
  ),
  labels: optional(
    record(labelKey(), labelValue(), { maxProperties: 16 }),
    "Only clusters that advertise all of these labels.",
    { examples: [{ tier: "gold" }] },
  ),
  excludeClusters: optional(array(clusterId(), { maxItems: 64 }), "Never these clusters.", {
    examples: [["tokyo"]],
  }),
});

/** What narrows a request down; shared by the wire, ResourceRequest and Reservation. */
export const requestOptionFields = {
  priority: optional(
    integer({ minimum: -MAX_PRIORITY, maximum: MAX_PRIORITY }),
    "Orders requests that arrive together; higher first. Nothing else. Absent: 0.",
    { examples: [10] },
  ),
  duration: optional(duration("positive"), "How long the reservation lasts. Absent: until it is released.", {
    examples: ["1h30m"],
  }),
  targetClusterID: optional(clusterId(), "Only this cluster will do. Absent: the best one.", {
    examples: ["paris"],
  }),
  constraints: optional(constraintsSchema, "Which clusters may provide the resources."),
  perNode: optional(someQuantitiesSchema, "What one single node must have room for.", {
    examples: [{ cpu: "4", gpu: "1" }],
  }),
  tier: optional(tierSchema, "Price tier that is asked for. Absent: on-demand.", { examples: ["on-demand"] }),
  start: optional(time(), "When the reservation begins. Only now is served: leave it out.", {
    examples: ["2026-07-01T10:00:00Z"],
  }),
};

export const reservationRequestSchema = titled(
  "ReservationRequestDTO",
  object({
    requestedResources: required(requestedQuantitiesSchema, "What is asked for; cpu and memory more than 0."),
    extended: optional(
      extendedCounts(),
      "Extended resources that are asked for; the same as requestedResources.extended.",
      { examples: [{ "amd.com/gpu": "1" }] },
    ),
    ...requestOptionFields,
  }),
  "Asks the broker for resources in another cluster.",
);
export type ReservationRequestDTO = Infer<typeof reservationRequestSchema>;

export const renewRequestSchema = titled(
  "RenewRequestDTO",
  object({
    duration: required(duration("positive"), "How long the reservation shall last from now.", {
      examples: ["1h"],
    }),
  }),
  "Extends a reservation.",
);
