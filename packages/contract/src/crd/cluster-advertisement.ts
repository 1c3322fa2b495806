import type { KubernetesObject } from "@resource-broker/base";
import { MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, reservationName, shownClusterId, time } from "../schema/terms.ts";
import { accountingFields, advertisedFields } from "../wire/advertisement.ts";
import { offeredResourcesSchema, resourceQuantitiesSchema } from "../wire/quantities.ts";
import { advertisementColumns, AGE, column, type Kind, MESSAGE, wide, kindNames } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

const MAX_REASON_LENGTH = 8192;
const COUNT = t.count();

const specSchema = t.object({
  clusterID: t.immutable(t.required(clusterId(), "The cluster that speaks.", "paris")),
  clusterName: t.optional(t.line(253), "A name to show. Not unique.", "Paris data centre"),
  resources: t.required(offeredResourcesSchema, "What the cluster has, uses, lends and has left."),
  timestamp: t.required(time(), "When the agent computed it, by its own clock.", "2026-07-01T10:00:00Z"),
  ...advertisedFields,
  ...accountingFields,
});

const heldReservationSchema = t.object({
  id: t.required(reservationName(), "The reservation that is held.", "rsv-rome-k3u7dq2hvmx5b4ta"),
  requesterID: t.optional(shownClusterId(), "The cluster that borrows.", "rome"),
  granted: t.required(resourceQuantitiesSchema, "What is held for it."),
  expiresAt: t.optional(time(), "When it ends by itself.", "2026-07-01T11:30:00Z"),
});

/** Which advertisement of the agent is meant. */
const identityFields = {
  timestamp: t.required(time(), "Its timestamp.", "2026-07-01T10:00:00Z"),
  instance: accountingFields.instance,
  sequence: accountingFields.sequence,
};

const acceptedSchema = t.object({
  ...identityFields,
  at: t.required(time(), "When the broker took it in, by the broker's clock.", "2026-07-01T10:00:00.123Z"),
});

const refusedSchema = t.object({
  ...identityFields,
  code: t.required(t.line(63), "Why, for machines: see the table of faults.", "superseded"),
  message: t.required(t.prose(MAX_REASON_LENGTH), "Why, in words."),
});

const statusSchema = t.object({
  phase: t.optional(t.oneOf("Active", "Stale"), "Stale: the cluster has been silent for too long.", "Active"),
  active: t.optional(t.boolean(), "True while the broker lends from this cluster.", true),
  score: t.optional(
    t.matching("^(?:100\\.00|[0-9]{1,2}\\.[0-9]{2})$", "a share from 0.00 to 100.00", { maxLength: 6 }),
    "Free share of CPU and memory in percent, whatever is asked for.",
    "62.50",
  ),
  holds: t.optional(
    t.array(heldReservationSchema, MAX_RESERVATIONS_PER_PROVIDER, { listKeys: ["id"] }),
    "What is lent, shown when the broker keeps its ledger in Kubernetes. Written by the broker only.",
  ),
  accepted: t.optional(acceptedSchema, "The advertisement that counts: the newest one the broker took in."),
  refused: t.optional(refusedSchema, "The newest advertisement, when the broker did not take it in."),
  ledgerID: t.optional(t.line(63), "The ledger that reserved and available come from.", "led-8c1f"),
  epoch: t.optional(COUNT, "Of the broker that may write holds: a replaced one finds a higher one here."),
  commit: t.optional(COUNT, "The last commit that changed the holds."),
  ...statusFields,
});

/** In the broker's cluster: one for each cluster that lends, named `<clusterID>-adv`. */
export const clusterAdvertisementKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  ...kindNames("broker.fluidos.eu", "ClusterAdvertisement", "cadv"),
  description: "What one cluster has and can lend, as the broker sees it. Named <clusterID>-adv.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    ...advertisementColumns.main,
    column("Phase", ".status.phase", "Active or Stale."),
    AGE,
    ...advertisementColumns.wide,
    wide(column("Score", ".status.score", "Free share in percent.")),
    wide({
      ...column("Updated", ".status.lastUpdateTime", "Time since the last advertisement."),
      type: "date",
    }),
    MESSAGE,
  ],
};
export type ClusterAdvertisement = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
