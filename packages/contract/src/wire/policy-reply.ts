import { policySchema } from "../policy/policy-schema.ts";
import { line, object, optional, required, titled } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { time } from "../schema/terms.ts";

export const policyReplySchema = titled(
  "PolicyReplyDTO",
  object({
    version: required(line({ maxLength: 253 }), "Names the policy in force; decision records carry it.", {
      examples: ["default"],
    }),
    source: required(line({ maxLength: 1024 }), "Where it was read from.", {
      examples: ["/etc/broker/policy.yaml"],
    }),
    loadedAt: optional(time(), "When it came into force.", { examples: ["2026-07-01T10:00:00Z"] }),
    policy: required(policySchema, "The whole policy, with the defaults filled in."),
  }),
  "The policy in force.",
);
export type PolicyReplyDTO = Infer<typeof policyReplySchema>;
