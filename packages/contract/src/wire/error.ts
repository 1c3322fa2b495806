import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { dnsLabel, shownClusterId } from "../schema/terms.ts";
import { LIMIT } from "./protocol.ts";
import { someQuantitiesSchema } from "./quantities.ts";

export const refusalSchema = t.message("RefusalDTO", "Why one cluster could not serve the request.", {
  clusterID: t.required(shownClusterId(), "The cluster that was passed over.", "paris"),
  reason: t.required(t.nonEmptyLine(63), "The filter that passed it over.", "capacity"),
  message: t.required(t.line(LIMIT.reasonLength), "The same in words.", "needs 3 more CPU"),
  missing: t.optional(someQuantitiesSchema, "What it lacked.", { cpu: "3" }),
});
export type RefusalDTO = Infer<typeof refusalSchema>;

export const MAX_FLIP_LENGTH = 1024;

export const errorSchema = t.message("ErrorDTO", "Every refusal and failure has this body.", {
  error: t.required(
    t.prose(65_536),
    "What went wrong and what to do, for people.",
    "No cluster can lend 8 CPU / 16Gi Memory to rome; 3 considered.",
  ),
  code: t.optional(
    t.line(63),
    "The same for machines: stable, see the table of faults. Absent from older brokers.",
    "no-capacity",
  ),
  reasons: t.optional(t.array(refusalSchema, 64), "Why each cluster could not serve the request."),
  flip: t.optional(
    t.line(MAX_FLIP_LENGTH),
    "The smallest change that would have made it fit.",
    "Would fit paris with 6 GPU instead of 8.",
  ),
  decisionID: t.optional(
    dnsLabel(),
    "The decision that explains it: GET /api/v1/decisions/{id}.",
    "dec-4f0q2",
  ),
});
export type ErrorDTO = Infer<typeof errorSchema>;
