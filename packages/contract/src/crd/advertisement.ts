import type { KubernetesObject } from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, time } from "../schema/terms.ts";
import { advertisedFields } from "../wire/advertisement.ts";
import { resourcesSchema } from "../wire/quantities.ts";
import { advertisementColumns, AGE, column, flag, type Kind, MESSAGE, wide, kindNames } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

const specSchema = t.object({
  clusterID: t.immutable(t.required(clusterId(), "This cluster's ID at the broker.", "rome")),
  resources: t.required(resourcesSchema, "What the cluster has, uses, lends and has left."),
  timestamp: t.required(time(), "When the agent computed it.", "2026-07-01T10:00:00Z"),
  ...advertisedFields,
});

const statusSchema = t.object({
  phase: t.optional(
    t.oneOf("Active", "Error"),
    "Active: the broker has accepted it. Error: see message.",
    "Active",
  ),
  published: t.optional(t.boolean(), "True when the broker accepted this advertisement.", true),
  ...statusFields,
});

/** Local copy of the agent's advertisement, for users of kubectl. */
export const advertisementKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  ...kindNames("rear.fluidos.eu", "Advertisement", "adv"),
  description:
    "What this cluster tells the broker it has and can lend. Written by the agent; for reading only.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    ...advertisementColumns.main,
    flag("Published", ".status.published", "Whether the broker accepted it."),
    AGE,
    ...advertisementColumns.wide,
    wide(column("Phase", ".status.phase", "Active or Error.")),
    MESSAGE,
  ],
};
export type Advertisement = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
