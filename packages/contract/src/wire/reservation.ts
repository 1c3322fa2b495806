import { FAILURE_REASONS, PHASES, RELEASE_REASONS } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { dnsLabel, httpsUrl, quantity, reservationName, shownClusterId, time } from "../schema/terms.ts";
import { reservationCostSchema, tierSchema } from "./cost.ts";
import { LIMIT } from "./protocol.ts";
import { resourceQuantitiesSchema } from "./quantities.ts";

/** What a virtual node gets beyond what was reserved, as the broker sends it to agents. */
export const sliceDefaultsSchema = t.object({
  pods: t.required(t.integer(1, 100_000), "Pods the virtual node may run.", 110),
  ephemeralStorage: t.required(
    quantity("positive"),
    "Ephemeral storage of the virtual node, where the request states none.",
    "20Gi",
  ),
});

/** Of a field of this schema, wherever it is. */
export const SLICE_DEFAULTS_TEXT =
  "What the virtual node gets beyond what was reserved: the policy's sliceDefaults. Absent: 110 pods and 20Gi.";

export const MAX_MESSAGE_LENGTH = 4096;

/** The Idempotency-Key header, and where it is repeated in a body. */
// Two keys must never become the same: unlike a `line`, it is taken exactly as it is.
export const idempotencyKeySchema = t.matching("^[^\\x00-\\x1f\\x7f-\\x9f]+$", "one line of plain text", {
  minLength: 1,
  maxLength: LIMIT.idempotencyKeyLength,
});

export const phaseSchema = t.oneOf(...PHASES);
export const endReasonSchema = t.oneOf(...RELEASE_REASONS, ...FAILURE_REASONS);
export const generationSchema = t.count();

const reservationStatusSchema = t.object({
  phase: t.required(
    phaseSchema,
    "Where the reservation is in its life. Released and Failed are final; only they end a hold.",
    "Reserved",
  ),
  message: t.required(t.prose(MAX_MESSAGE_LENGTH), "The same in words.", "Use paris for 4 CPU / 8Gi Memory"),
  reservedAt: t.optional(time(), "When the resources were locked.", "2026-07-01T10:00:00.123Z"),
  expiresAt: t.optional(
    time(),
    "When it ends by itself. Absent: when it is released.",
    "2026-07-01T11:30:00.123Z",
  ),
});

export const reservationSchema = t.message(
  "ReservationDTO",
  "Resources of one cluster that are locked for another.",
  {
    id: t.required(reservationName(), "Names the reservation everywhere.", "rsv-rome-k3u7dq2hvmx5b4ta"),
    requesterID: t.required(shownClusterId(), "The cluster that borrows.", "rome"),
    targetClusterID: t.required(shownClusterId(), "The cluster that lends.", "paris"),
    requestedResources: t.required(resourceQuantitiesSchema, "What is held."),
    status: t.required(reservationStatusSchema, "The state of the reservation."),
    createdAt: t.required(time(), "When it was asked for.", "2026-07-01T10:00:00.123Z"),
    endedAt: t.optional(time(), "When it ended. Absent: it lives.", "2026-07-01T11:30:00.123Z"),
    reason: t.optional(endReasonSchema, "Why it ended.", "Expired"),
    cost: t.optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
    generation: t.optional(
      generationSchema,
      "Grows with every change: a lower one than seen is old news. With an equal one only added fields may differ, such as the provider's endpoint. Absent from older brokers.",
      1,
    ),
    key: t.optional(idempotencyKeySchema, "The idempotency key; only its requester sees it.", "5f1c8a3e-2"),
    requesterLiqoID: t.optional(shownClusterId(), "The borrowing cluster's ID in Liqo.", "cool-rome"),
    targetLiqoID: t.optional(shownClusterId(), "The lending cluster's ID in Liqo.", "calm-paris"),
    targetClusterEndpoint: t.optional(
      httpsUrl(),
      "Where the lending cluster's API server is reached.",
      "https://10.0.0.7:6443",
    ),
    tier: t.optional(tierSchema, "The price tier that was granted.", "on-demand"),
    priority: t.optional(t.integer(-1_000_000_000, 1_000_000_000), "The priority it was asked with.", 10),
    preempting: t.optional(
      t.object({
        at: t.required(time(), "When it ends, unless the notice is withdrawn.", "2026-07-01T10:05:00.123Z"),
        byPriority: t.optional(
          t.integer(-1_000_000_000, 1_000_000_000),
          "The priority of the request that waits for its capacity. Absent: its provider is drained.",
          50,
        ),
      }),
      "It is under notice and cannot be renewed: a waiting request needs its capacity, or its provider is drained. Absent: it is not.",
    ),
    tenant: t.optional(
      t.nonEmptyLine(253),
      "The tenant that it counts for; its requester and admins see it. Absent: the requester itself.",
      "ml",
    ),
    decisionID: t.optional(
      dnsLabel(),
      "The decision that explains the choice: GET /api/v1/decisions/{id}.",
      "dec-4f0q2",
    ),
    sliceDefaults: t.optional(sliceDefaultsSchema, SLICE_DEFAULTS_TEXT),
  },
);
export type ReservationDTO = Infer<typeof reservationSchema>;

/** `/instructions` and `/reservations` answer plain arrays, as the Go broker does; it writes an empty one as null. */
export const reservationListSchema = t.titled(
  "ReservationListDTO",
  t.array(reservationSchema, LIMIT.instructions, { nullIsEmpty: true }),
  "Reservations; an empty list may be null when it comes from an older broker.",
);
