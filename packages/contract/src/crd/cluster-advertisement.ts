import type { KubernetesObject } from "@resource-broker/base";
import { MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import {
  array,
  boolean,
  integer,
  line,
  matching,
  object,
  oneOf,
  optional,
  prose,
  required,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, reservationName, shownClusterId, time } from "../schema/terms.ts";
import { accountingFields, advertisedFields } from "../wire/advertisement.ts";
import { offeredResourcesSchema, resourceQuantitiesSchema } from "../wire/quantities.ts";
import { AGE, advertisementColumns, type Kind } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

const MAX_REASON_LENGTH = 8192;
const COUNT = integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const specSchema = object({
  clusterID: required(clusterId(), "The cluster that speaks.", { examples: ["paris"], lock: "immutable" }),
  clusterName: optional(line({ maxLength: 253 }), "A name to show. Not unique.", {
    examples: ["Paris data centre"],
  }),
  resources: required(offeredResourcesSchema, "What the cluster has, uses, lends and has left."),
  timestamp: required(time(), "When the agent computed it, by its own clock.", {
    examples: ["2026-07-01T10:00:00Z"],
  }),
  ...advertisedFields,
  ...accountingFields,
});

const heldReservationSchema = object({
  id: required(reservationName(), "The reservation that is held.", {
    examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
  }),
  requesterID: optional(shownClusterId(), "The cluster that borrows.", { examples: ["rome"] }),
  granted: required(resourceQuantitiesSchema, "What is held for it."),
  expiresAt: optional(time(), "When it ends by itself.", { examples: ["2026-07-01T11:30:00Z"] }),
});

const acceptedSchema = object({
  timestamp: required(time(), "Its timestamp.", { examples: ["2026-07-01T10:00:00Z"] }),
  instance: accountingFields.instance,
  sequence: accountingFields.sequence,
  at: required(time(), "When the broker took it in, by the broker's clock.", {
    examples: ["2026-07-01T10:00:00.123Z"],
  }),
});

const refusedSchema = object({
  timestamp: required(time(), "Its timestamp.", { examples: ["2026-07-01T10:00:00Z"] }),
  instance: accountingFields.instance,
  sequence: accountingFields.sequence,
  code: required(line({ maxLength: 63 }), "Why, for machines: see the table of faults.", {
    examples: ["superseded"],
  }),
  message: required(prose({ maxLength: MAX_REASON_LENGTH }), "Why, in words."),
});

const statusSchema = object({
  phase: optional(oneOf("Active", "Stale"), "Stale: the cluster has been silent for too long.", {
    examples: ["Active"],
  }),
  active: optional(boolean(), "True while the broker lends from this cluster.", { examples: [true] }),
  score: optional(
    matching("^(?:100\\.00|[0-9]{1,2}\\.[0-9]{2})$", "a share from 0.00 to 100.00", { maxLength: 6 }),
    "Free share of CPU and memory in percent, whatever is asked for.",
    { examples: ["62.50"] },
  ),
  holds: optional(
    array(heldReservationSchema, { maxItems: MAX_RESERVATIONS_PER_PROVIDER, listKeys: ["id"] }),
    "What is lent, shown when the broker keeps its ledger in Kubernetes. Written by the broker only.",
  ),
  accepted: optional(acceptedSchema, "The advertisement that counts: the newest one the broker took in."),
  refused: optional(refusedSchema, "The newest advertisement, when the broker did not take it in."),
  ledgerID: optional(line({ maxLength: 63 }), "The ledger that reserved and available come from.", {
    examples: ["led-8c1f"],
  }),
  epoch: optional(COUNT, "Of the broker that may write holds: a replaced one finds a higher one here."),
  commit: optional(COUNT, "The last commit that changed the holds."),
  ...statusFields,
});

/** In the broker's cluster: one for each cluster that lends, named `<clusterID>-adv`. */
export const clusterAdvertisementKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  group: "broker.fluidos.eu",
  version: "v1alpha1",
  kind: "ClusterAdvertisement",
  plural: "clusteradvertisements",
  singular: "clusteradvertisement",
  shortNames: ["cadv"],
  description: "What one cluster has and can lend, as the broker sees it. Named <clusterID>-adv.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    ...advertisementColumns.main,
    { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Active or Stale." },
    AGE,
    ...advertisementColumns.wide,
    {
      name: "Score",
      type: "string",
      jsonPath: ".status.score",
      description: "Free share in percent.",
      isWide: true,
    },
    {
      name: "Updated",
      type: "date",
      jsonPath: ".status.lastUpdateTime",
      description: "Time since the last advertisement.",
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
export type ClusterAdvertisement = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
