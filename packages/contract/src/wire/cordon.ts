import { boolean, line, object, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { shownClusterId } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";

export const cordonRequestSchema = titled(
  "CordonRequestDTO",
  object({
    reason: optional(line({ maxLength: LIMIT.reasonLength }), "Why, in words that requesters will read.", {
      examples: ["maintenance until Friday"],
    }),
  }),
  "Keeps a cluster from lending anything new. What it lends already stays.",
);
export type CordonRequestDTO = Infer<typeof cordonRequestSchema>;

export const cordonReplySchema = titled(
  "CordonReplyDTO",
  object({
    clusterID: required(shownClusterId(), "The cluster.", { examples: ["tokyo"] }),
    cordoned: required(boolean(), "True while it lends nothing new.", { examples: [true] }),
    reason: optional(line({ maxLength: LIMIT.reasonLength }), "Why.", {
      examples: ["maintenance until Friday"],
    }),
  }),
  "Whether a cluster may lend.",
);
export type CordonReplyDTO = Infer<typeof cordonReplySchema>;
