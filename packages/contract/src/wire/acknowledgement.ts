import { line, object, oneOf, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { LIMIT } from "./protocol.ts";
import { generationSchema } from "./reservation.ts";

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
export type AcknowledgementDTO = Infer<typeof acknowledgementSchema>;
