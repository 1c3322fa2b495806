import type { KubernetesObject } from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { shownClusterId } from "../schema/terms.ts";
import {
  AGE,
  type Kind,
  column,
  flag,
  instructionDetailColumns,
  requestedColumns,
  kindNames,
} from "./kind.ts";
import { instructionFields, statusFields } from "./shared-fields.ts";

const specSchema = t.object({
  ...instructionFields,
  requesterClusterID: t.immutable(t.required(shownClusterId(), "The cluster that borrows.", "rome")),
  requesterLiqoID: t.optional(shownClusterId(), "That cluster's ID in Liqo.", "cool-rome"),
});

const statusSchema = t.object({
  enforced: t.optional(t.boolean(), "True while the capacity is held.", true),
  ...statusFields,
});

/** In the cluster that lends: what to hold, and for whom. */
export const providerInstructionKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  ...kindNames("rear.fluidos.eu", "ProviderInstruction", "pinst"),
  description: "Tells this cluster what to hold for another one. Written by the agent.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    column("Requester", ".spec.requesterClusterID", "The cluster that borrows."),
    ...requestedColumns.main,
    flag("Enforced", ".status.enforced", "Whether the capacity is held."),
    AGE,
    ...instructionDetailColumns,
  ],
};
export type ProviderInstruction = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
