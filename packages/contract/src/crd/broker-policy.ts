import type { KubernetesObject } from "@resource-broker/base";
import { policySchema } from "../policy/policy-schema.ts";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { AGE, column, flag, type Kind, MESSAGE, wide, kindNames } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

const statusSchema = t.object({
  inForce: t.optional(t.boolean(), "True when the broker follows this policy.", true),
  version: t.optional(t.line(253), "The version that is in force.", "2026-07"),
  ...statusFields,
});

/** In the broker's cluster: what the operator decides, read again on every change. */
export const brokerPolicyKind: Kind<Infer<typeof policySchema>, Infer<typeof statusSchema>> = {
  ...kindNames("broker.fluidos.eu", "BrokerPolicy", "bpol"),
  description: "Weights, prices, limits and lending rules of the broker. Read again on every change.",
  spec: policySchema,
  status: statusSchema,
  columns: [
    column("Version", ".status.version", "The version that is in force."),
    flag("In force", ".status.inForce", "Whether the broker follows it."),
    AGE,
    wide(column("Staleness", ".spec.staleness", "Age at which an advertisement is not lent from.")),
    wide(column("Max TTL", ".spec.maxTTL", "Longest lifetime.")),
    MESSAGE,
  ],
  rules: [
    {
      at: "spec.weights",
      rule: "self.exists(name, self[name] > 0.0)",
      message: "at least one weight must be more than 0",
    },
    {
      at: "spec",
      fieldPath: ".defaultTTL",
      rule: "!has(self.defaultTTL) || !has(self.maxTTL) || duration(self.defaultTTL) <= duration(self.maxTTL)",
      message: "must not be longer than maxTTL",
    },
  ],
};
export type BrokerPolicy = KubernetesObject<Infer<typeof policySchema>, Infer<typeof statusSchema>>;
