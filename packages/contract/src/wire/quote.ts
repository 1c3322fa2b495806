import { boolean, object, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { shownClusterId } from "../schema/terms.ts";
import { reservationCostSchema } from "./cost.ts";
import { decisionSchema } from "./decision.ts";

export const quoteSchema = titled(
  "QuoteDTO",
  object({
    fits: required(boolean(), "True when the request would be granted right now.", { examples: [true] }),
    targetClusterID: optional(shownClusterId(), "The cluster that would lend.", { examples: ["paris"] }),
    cost: optional(reservationCostSchema, "What it would cost. Absent: that cluster is not priced."),
    decision: required(decisionSchema, "The decision that would be taken. It is not kept."),
  }),
  "What would happen; nothing is written or held.",
);
export type QuoteDTO = Infer<typeof quoteSchema>;
