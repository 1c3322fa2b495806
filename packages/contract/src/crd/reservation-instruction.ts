import type { KubernetesObject } from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { httpsUrl, shownClusterId } from "../schema/terms.ts";
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
  targetClusterID: t.immutable(t.required(shownClusterId(), "The cluster that lends.", "paris")),
  targetClusterEndpoint: t.optional(
    httpsUrl(),
    "Where that cluster's API server is reached.",
    "https://10.0.0.7:6443",
  ),
  targetLiqoID: t.optional(shownClusterId(), "That cluster's ID in Liqo.", "calm-paris"),
});

const statusSchema = t.object({
  delivered: t.optional(t.boolean(), "True when the resources can be used.", true),
  observedReservationResourceVersion: t.optional(
    t.line(128),
    "Not written by this agent; kept so that objects of older agents stay valid.",
    "4711",
  ),
  ...statusFields,
});

/** In the cluster that borrows: which cluster to use, and for how much. */
export const reservationInstructionKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  ...kindNames("rear.fluidos.eu", "ReservationInstruction", "rinst"),
  description: "Tells this cluster which other cluster lends to it, and how much. Written by the agent.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    column("Target", ".spec.targetClusterID", "The cluster that lends."),
    ...requestedColumns.main,
    flag("Delivered", ".status.delivered", "Whether the resources can be used."),
    AGE,
    ...instructionDetailColumns,
  ],
};
export type ReservationInstruction = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
