import { FAILURE_REASONS, PHASES, RELEASE_REASONS } from "@resource-broker/domain";
import {
  array,
  integer,
  matching,
  object,
  oneOf,
  optional,
  prose,
  required,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { dnsLabel, httpsUrl, quantity, reservationName, shownClusterId, time } from "../schema/terms.ts";
import { reservationCostSchema, tierSchema } from "./cost.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema } from "./quantities.ts";

/** What a virtual node gets beyond what was reserved, as the broker sends it to agents. */
export const sliceDefaultsSchema = object({
  pods: required(integer({ minimum: 1, maximum: 100_000 }), "Pods the virtual node may run.", {
    examples: [110],
  }),
  ephemeralStorage: required(
    quantity("positive"),
    "Ephemeral storage of the virtual node, where the request states none.",
    { examples: ["20Gi"] },
  ),
});

/** Of a field of this schema, wherever it is. */
export const SLICE_DEFAULTS_TEXT =
  "What the virtual node gets beyond what was reserved: the policy's sliceDefaults. Absent: 110 pods and 20Gi.";

export const MAX_MESSAGE_LENGTH = 4096;

/** The Idempotency-Key header, and where it is repeated in a body. */
// Two keys must never become the same: unlike a `line`, it is taken exactly as it is.
export const idempotencyKeySchema = matching("^[^\\x00-\\x1f\\x7f-\\x9f]+$", "one line of plain text", {
  minLength: 1,
  maxLength: LIMIT.idempotencyKeyLength,
});

export const phaseSchema = oneOf(...PHASES);
export const endReasonSchema = oneOf(...RELEASE_REASONS, ...FAILURE_REASONS);
export const generationSchema = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const reservationStatusSchema = object({
  phase: required(
    phaseSchema,
    "Where the reservation is in its life. Released and Failed are final; only they end a hold.",
    { examples: ["Reserved"] },
  ),
  message: required(prose({ maxLength: MAX_MESSAGE_LENGTH }), "The same in words.", {
    examples: ["Use paris for 4 CPU / 8Gi Memory"],
  }),
  reservedAt: optional(time(), "When the resources were locked.", { examples: ["2026-07-01T10:00:00.123Z"] }),
  expiresAt: optional(time(), "When it ends by itself. Absent: when it is released.", {
    examples: ["2026-07-01T11:30:00.123Z"],
  }),
});

export const reservationSchema = titled(
  "ReservationDTO",
  object({
    id: required(reservationName(), "Names the reservation everywhere.", {
      examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
    }),
    requesterID: required(shownClusterId(), "The cluster that borrows.", { examples: ["rome"] }),
    targetClusterID: required(shownClusterId(), "The cluster that lends.", { examples: ["paris"] }),
    requestedResources: required(resourceQuantitiesSchema, "What is held."),
    status: required(reservationStatusSchema, "The state of the reservation."),
    createdAt: required(time(), "When it was asked for.", { examples: ["2026-07-01T10:00:00.123Z"] }),
    reason: optional(endReasonSchema, "Why it ended.", { examples: ["Expired"] }),
    cost: optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
    generation: optional(
      generationSchema,
      "Grows with every change: a lower or equal one than seen is old news. Absent from older brokers.",
      { examples: [1] },
    ),
    key: optional(idempotencyKeySchema, "The idempotency key; only its requester sees it.", {
      examples: ["5f1c8a3e-2"],
    }),
    requesterLiqoID: optional(shownClusterId(), "The borrowing cluster's ID in Liqo.", {
      examples: ["cool-rome"],
    }),
    targetLiqoID: optional(shownClusterId(), "The lending cluster's ID in Liqo.", {
      examples: ["calm-paris"],
    }),
    targetClusterEndpoint: optional(httpsUrl(), "Where the lending cluster's API server is reached.", {
      examples: ["https://10.0.0.7:6443"],
    }),
    tier: optional(tierSchema, "The price tier that was granted.", { examples: ["on-demand"] }),
    priority: optional(
      integer({ minimum: -1_000_000_000, maximum: 1_000_000_000 }),
      "The priority it was asked with.",
      {
        examples: [10],
      },
    ),
    decisionID: optional(dnsLabel(), "The decision that explains the choice: GET /api/v1/decisions/{id}.", {
      examples: ["dec-4f0q2"],
    }),
    sliceDefaults: optional(sliceDefaultsSchema, SLICE_DEFAULTS_TEXT),
  }),
  "Resources of one cluster that are locked for another.",
);
export type ReservationDTO = Infer<typeof reservationSchema>;

/** `/instructions` and `/reservations` answer plain arrays, as the Go broker does; it writes an empty one as null. */
export const reservationListSchema = titled(
  "ReservationListDTO",
  array(reservationSchema, { maxItems: LIMIT.instructions, nullIsEmpty: true }),
  "Reservations; an empty list may be null when it comes from an older broker.",
);
