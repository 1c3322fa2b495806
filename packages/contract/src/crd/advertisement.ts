import type { KubernetesObject } from "@resource-broker/base";
import { boolean, object, oneOf, optional, required } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, time } from "../schema/terms.ts";
import { advertisedFields } from "../wire/advertisement.ts";
import { resourcesSchema } from "../wire/quantities.ts";
import { AGE, advertisementColumns, type Kind } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

const specSchema = object({
  clusterID: required(clusterId(), "This cluster's ID at the broker.", {
    examples: ["rome"],
    lock: "immutable",
  }),
  resources: required(resourcesSchema, "What the cluster has, uses, lends and has left."),
  timestamp: required(time(), "When the agent computed it.", { examples: ["2026-07-01T10:00:00Z"] }),
  ...advertisedFields,
});

const statusSchema = object({
  phase: optional(oneOf("Active", "Error"), "Active: the broker has accepted it. Error: see message.", {
    examples: ["Active"],
  }),
  published: optional(boolean(), "True when the broker accepted this advertisement.", { examples: [true] }),
  ...statusFields,
});

/** Local copy of the agent's advertisement, for users of kubectl. */
export const advertisementKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  group: "rear.fluidos.eu",
  version: "v1alpha1",
  kind: "Advertisement",
  plural: "advertisements",
  singular: "advertisement",
  shortNames: ["adv"],
  description:
    "What this cluster tells the broker it has and can lend. Written by the agent; for reading only.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    ...advertisementColumns.main,
    {
      name: "Published",
      type: "boolean",
      jsonPath: ".status.published",
      description: "Whether the broker accepted it.",
    },
    AGE,
    ...advertisementColumns.wide,
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Active or Error.",
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
  rules: [],
};
export type Advertisement = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
