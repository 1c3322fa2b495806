import type { KubernetesObject } from "@resource-broker/base";
import { boolean, line, object, optional, required } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { httpsUrl, shownClusterId } from "../schema/terms.ts";
import { AGE, instructionDetailColumns, type Kind, requestedColumns, requestedGpuColumn } from "./kind.ts";
import { instructionFields, statusFields } from "./shared-fields.ts";

const specSchema = object({
  ...instructionFields,
  targetClusterID: required(shownClusterId(), "The cluster that lends.", {
    examples: ["paris"],
    lock: "immutable",
  }),
  targetClusterEndpoint: optional(httpsUrl(), "Where that cluster's API server is reached.", {
    examples: ["https://10.0.0.7:6443"],
  }),
  targetLiqoID: optional(shownClusterId(), "That cluster's ID in Liqo.", { examples: ["calm-paris"] }),
});

const statusSchema = object({
  delivered: optional(boolean(), "True when the resources can be used.", { examples: [true] }),
  observedReservationResourceVersion: optional(
    line({ maxLength: 128 }),
    "The version of the reservation this is about, over the Kubernetes transport.",
    { examples: ["4711"] },
  ),
  ...statusFields,
});

/** In the cluster that borrows: which cluster to use, and for how much. */
export const reservationInstructionKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  group: "rear.fluidos.eu",
  version: "v1alpha1",
  kind: "ReservationInstruction",
  plural: "reservationinstructions",
  singular: "reservationinstruction",
  shortNames: ["rinst"],
  description: "Tells this cluster which other cluster lends to it, and how much. Written by the agent.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    {
      name: "Target",
      type: "string",
      jsonPath: ".spec.targetClusterID",
      description: "The cluster that lends.",
    },
    ...requestedColumns,
    requestedGpuColumn,
    {
      name: "Delivered",
      type: "boolean",
      jsonPath: ".status.delivered",
      description: "Whether the resources can be used.",
    },
    AGE,
    ...instructionDetailColumns,
  ],
  rules: [],
};
export type ReservationInstruction = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
