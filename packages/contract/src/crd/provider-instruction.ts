import type { KubernetesObject } from "@resource-broker/base";
import { boolean, object, optional, required } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { shownClusterId } from "../schema/terms.ts";
import { AGE, instructionDetailColumns, type Kind, requestedColumns, requestedGpuColumn } from "./kind.ts";
import { instructionFields, statusFields } from "./shared-fields.ts";

const specSchema = object({
  ...instructionFields,
  requesterClusterID: required(shownClusterId(), "The cluster that borrows.", {
    examples: ["rome"],
    lock: "immutable",
  }),
  requesterLiqoID: optional(shownClusterId(), "That cluster's ID in Liqo.", { examples: ["cool-rome"] }),
});

const statusSchema = object({
  enforced: optional(boolean(), "True while the capacity is held.", { examples: [true] }),
  ...statusFields,
});

/** In the cluster that lends: what to hold, and for whom. */
export const providerInstructionKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  group: "rear.fluidos.eu",
  version: "v1alpha1",
  kind: "ProviderInstruction",
  plural: "providerinstructions",
  singular: "providerinstruction",
  shortNames: ["pinst"],
  description: "Tells this cluster what to hold for another one. Written by the agent.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    {
      name: "Requester",
      type: "string",
      jsonPath: ".spec.requesterClusterID",
      description: "The cluster that borrows.",
    },
    ...requestedColumns,
    requestedGpuColumn,
    {
      name: "Enforced",
      type: "boolean",
      jsonPath: ".status.enforced",
      description: "Whether the capacity is held.",
    },
    AGE,
    ...instructionDetailColumns,
  ],
  rules: [],
};
export type ProviderInstruction = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
