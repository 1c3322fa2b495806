import { array, line, object, oneOf, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { reservationName } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { generationSchema, reservationSchema } from "./reservation.ts";

export const capacityEventSchema = titled(
  "CapacityEventDTO",
  object({
    change: required(
      oneOf("freed", "at-risk"),
      "freed: queued requests may try again. at-risk: a provider shrank below what it lends.",
      { examples: ["freed"] },
    ),
    reservationIDs: optional(
      array(reservationName(), { maxItems: LIMIT.capacityIds }),
      "at-risk: the reservations of yours it touches.",
      {
        examples: [["rsv-rome-k3u7dq2hvmx5b4ta"]],
      },
    ),
    message: optional(line({ maxLength: LIMIT.reasonLength }), "The same in words.", {
      examples: ["paris has 2 CPU less than it lends"],
    }),
  }),
  "Capacity came back or is at risk.",
);
export type CapacityEventDTO = Infer<typeof capacityEventSchema>;

export const resetEventSchema = titled(
  "ResetEventDTO",
  object({
    reason: required(
      line({ maxLength: LIMIT.reasonLength }),
      "Why the stream cannot go on where the reader left it.",
      {
        examples: ["event 812 is too old"],
      },
    ),
  }),
  "The reader must list again: the stream goes on from now.",
);
export type ResetEventDTO = Infer<typeof resetEventSchema>;

/** What `GET /api/v1/instructions?watch=true` sends, by event name. The event id is the commit number. */
export const EVENT_SCHEMAS = {
  /** A reservation that this cluster provides. */
  instruction: reservationSchema,
  /** A reservation that this cluster asked for. */
  reservation: reservationSchema,
  capacity: capacityEventSchema,
  reset: resetEventSchema,
} as const;
export type EventName = keyof typeof EVENT_SCHEMAS;

export const acknowledgementSchema = titled(
  "AcknowledgementDTO",
  object({
    state: required(
      oneOf("held", "refused"),
      "held: the capacity is kept for the reservation. refused: it cannot be; the reservation fails.",
      { examples: ["held"] },
    ),
    reason: optional(
      line({ maxLength: LIMIT.reasonLength }),
      "Why it is refused, in words for the requester.",
      {
        examples: ["two nodes failed since the last advertisement"],
      },
    ),
    generation: optional(generationSchema, "The generation of the instruction that is answered.", {
      examples: [1],
    }),
  }),
  "A provider's answer to an instruction.",
);
