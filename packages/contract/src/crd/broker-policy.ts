import type { KubernetesObject } from "@resource-broker/base";
import { policySchema } from "../policy/policy-schema.ts";
import { boolean, line, object, optional } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { AGE, type Kind } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

const statusSchema = object({
  inForce: optional(boolean(), "True when the broker follows this policy.", { examples: [true] }),
  version: optional(line({ maxLength: 253 }), "The version that is in force.", { examples: ["2026-07"] }),
  ...statusFields,
});

/** In the broker's cluster: what the operator decides, read again on every change. */
export const brokerPolicyKind: Kind<Infer<typeof policySchema>, Infer<typeof statusSchema>> = {
  group: "broker.fluidos.eu",
  version: "v1alpha1",
  kind: "BrokerPolicy",
  plural: "brokerpolicies",
  singular: "brokerpolicy",
  shortNames: ["bpol"],
  description: "Weights, prices, limits and lending rules of the broker. Read again on every change.",
  spec: policySchema,
  status: statusSchema,
  columns: [
    {
      name: "Version",
      type: "string",
      jsonPath: ".status.version",
      description: "The version that is in force.",
    },
    {
      name: "In force",
      type: "boolean",
      jsonPath: ".status.inForce",
      description: "Whether the broker follows it.",
    },
    AGE,
    {
      name: "Staleness",
      type: "string",
      jsonPath: ".spec.staleness",
      description: "Age at which an advertisement is not lent from.",
      isWide: true,
    },
    {
      name: "Max TTL",
      type: "string",
      jsonPath: ".spec.maxTTL",
      description: "Longest lifetime.",
      isWide: true,
    },
    {
      name: "Message",
      type: "string",
      jsonPath: ".status.message",
      description: "The state in words.",
      isWide: true,
    },
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
