import { array, line, object, optional, prose, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { dnsLabel, shownClusterId } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { someQuantitiesSchema } from "./quantities.ts";

export const refusalSchema = titled(
  "RefusalDTO",
  object({
    clusterID: required(shownClusterId(), "The cluster that was passed over.", { examples: ["paris"] }),
    reason: required(line({ minLength: 1, maxLength: 63 }), "The filter that passed it over.", {
      examples: ["capacity"],
    }),
    message: required(line({ maxLength: LIMIT.reasonLength }), "The same in words.", {
      examples: ["needs 3 more CPU"],
    }),
    missing: optional(someQuantitiesSchema, "What it lacked.", { examples: [{ cpu: "3" }] }),
  }),
  "Why one cluster could not serve the request.",
);
export type RefusalDTO = Infer<typeof refusalSchema>;

export const MAX_FLIP_LENGTH = 1024;

export const errorSchema = titled(
  "ErrorDTO",
  object({
    error: required(prose({ maxLength: 65_536 }), "What went wrong and what to do, for people.", {
      examples: ["No cluster can lend 8 CPU / 16Gi Memory to rome; 3 considered."],
    }),
    code: optional(
      line({ maxLength: 63 }),
      "The same for machines: stable, see the table of faults. Absent from older brokers.",
      { examples: ["no-capacity"] },
    ),
    reasons: optional(
      array(refusalSchema, { maxItems: 64 }),
      "Why each cluster could not serve the request.",
    ),
    flip: optional(line({ maxLength: MAX_FLIP_LENGTH }), "The smallest change that would have made it fit.", {
      examples: ["Would fit paris with 6 GPU instead of 8."],
    }),
    decisionID: optional(dnsLabel(), "The decision that explains it: GET /api/v1/decisions/{id}.", {
      examples: ["dec-4f0q2"],
    }),
  }),
  "Every refusal and failure has this body.",
);
export type ErrorDTO = Infer<typeof errorSchema>;
