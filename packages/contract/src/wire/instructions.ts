import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { reservationName } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { peerStatementSchema } from "./statement.ts";
import { generationSchema, reservationSchema } from "./reservation.ts";
import { waitingRequestSchema } from "./waiting.ts";

export const capacityEventSchema = t.message("CapacityEventDTO", "Capacity came back or is at risk.", {
  change: t.required(
    t.oneOf("freed", "at-risk"),
    "freed: queued requests may try again. at-risk: a provider shrank below what it lends.",
    "freed",
  ),
  reservationIDs: t.optional(
    t.array(reservationName(), LIMIT.capacityIds),
    "at-risk: the reservations of yours it touches.",
    ["rsv-rome-k3u7dq2hvmx5b4ta"],
  ),
  message: t.optional(t.line(LIMIT.reasonLength), "The same in words.", "paris has 2 CPU less than it lends"),
});
export type CapacityEventDTO = Infer<typeof capacityEventSchema>;

export const resetEventSchema = t.message(
  "ResetEventDTO",
  "The reader must list again: the stream goes on from now.",
  {
    reason: t.required(
      t.line(LIMIT.reasonLength),
      "Why the stream cannot go on where the reader left it.",
      "event 812 is too old",
    ),
  },
);
export type ResetEventDTO = Infer<typeof resetEventSchema>;

/** What `GET /api/v1/instructions?watch=true` sends, by event name. The event id is the commit number. */
export const EVENT_SCHEMAS = {
  /** A reservation that this cluster provides. */
  instruction: reservationSchema,
  /** A reservation that this cluster asked for. */
  reservation: reservationSchema,
  /** A request of this cluster that waited has left the queue, or capacity is kept for it. From protocol 3 on. */
  waiting: waitingRequestSchema,
  capacity: capacityEventSchema,
  reset: resetEventSchema,
  /** The newest statement of a peer to this cluster. */
  statement: peerStatementSchema,
} as const;
export type EventName = keyof typeof EVENT_SCHEMAS;

export const acknowledgementSchema = t.message(
  "AcknowledgementDTO",
  "A provider's answer to an instruction.",
  {
    state: t.required(
      t.oneOf("held", "refused"),
      "held: the capacity is kept for the reservation. refused: it cannot be; the reservation fails.",
      "held",
    ),
    reason: t.optional(
      t.line(LIMIT.reasonLength),
      "Why it is refused, in words for the requester.",
      "two nodes failed since the last advertisement",
    ),
    generation: t.optional(generationSchema, "The generation of the instruction that is answered.", 1),
  },
);
