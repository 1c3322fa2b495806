import { perKnownResource, perResource, RESOURCE, type SlotResource } from "@resource-broker/base";
import { MAX_GPU_MODELS, MAX_NODE_SHAPES, MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import {
  clusterId,
  currency,
  httpsUrl,
  labelKey,
  labelValue,
  quantity,
  reservationName,
  shownClusterId,
  time,
} from "../schema/terms.ts";
import { costSchema } from "./cost.ts";
import { LIMIT } from "./protocol.ts";
import { extendedQuantities, resourceQuantitiesSchema, resourcesSchema } from "./quantities.ts";
import { reservationSchema } from "./reservation.ts";

const MAX_COUNT = 1_000_000;
const CLUSTER_CONDITIONS = ["Stale", "Cordoned", "Overcommitted", "Overuse"] as const;
const UNIT_PRICE = t.number(0, 1e12);

const always = ({ noun, examples }: SlotResource) =>
  t.required(quantity("non-negative"), `Allocatable ${noun} of each of them.`, ...examples);

const nodeShapeSchema = t.object({
  count: t.required(t.integer(1, MAX_COUNT), "How many nodes have at least this much.", 3),
  ...perResource("name", ({ noun, examples }) =>
    t.optional(quantity("non-negative"), `Allocatable ${noun} of each of them.`, ...examples),
  ),
  cpu: always(RESOURCE.cpu),
  memory: always(RESOURCE.memory),
  extended: t.optional(
    extendedQuantities("non-negative"),
    "Other allocatable extended resources of each of them.",
  ),
});

const gpuModelSchema = t.object({
  model: t.required(t.nonEmptyLine(63), "Model as the node's label names it.", "NVIDIA-A100-SXM4-40GB"),
  count: t.required(t.integer(0, MAX_COUNT), "How many of them the cluster has.", 4),
  memory: t.optional(quantity("non-negative"), "Memory of one GPU.", "40Gi"),
});

const usageSchema = t.object({
  reservationID: t.required(reservationName(), "The reservation that is held.", "rsv-rome-k3u7dq2hvmx5b4ta"),
  granted: t.required(resourceQuantitiesSchema, "What the agent holds for it."),
  used: t.required(resourceQuantitiesSchema, "Requests of the pods that run for it right now, possibly 0."),
});

/** Advertised fields other than resources; shared by the wire format and the advertisement kinds. */
export const advertisedFields = {
  cost: t.optional(costSchema, "What the cluster asks for its capacity. Absent: not priced."),
  endpointURL: t.optional(httpsUrl(), "Where the cluster's API server is reached.", "https://10.0.0.7:6443"),
  labels: t.optional(
    t.record(labelKey(), labelValue(), LIMIT.labels),
    "Labels that requests can ask for, such as region and zone.",
    { "topology.kubernetes.io/region": "eu-west" },
  ),
  nodeShapes: t.optional(
    t.array(nodeShapeSchema, MAX_NODE_SHAPES),
    "The sizes of single nodes (allocatable, not free), in buckets: for requests that must fit one node.",
  ),
  gpus: t.optional(t.array(gpuModelSchema, MAX_GPU_MODELS), "The GPU models of the cluster."),
  liqo: t.optional(
    t.object({
      clusterID: t.required(clusterId(), "The cluster's ID in Liqo; not the broker's.", "cool-rome"),
      version: t.required(t.line(63), "Version of Liqo.", "v1.2.0"),
    }),
    "The cluster's identity in Liqo. Absent: Liqo is not installed.",
  ),
};

/** Usage and ordering of posts; absent from older agents. */
export const accountingFields = {
  usage: t.optional(
    t.array(usageSchema, MAX_RESERVATIONS_PER_PROVIDER),
    "One entry for each hold the agent knows of, with what its pods request.",
  ),
  instance: t.optional(
    t.nonEmptyLine(63),
    "Names the agent process: a new one replaces the old.",
    "7c0f3a52",
  ),
  sequence: t.optional(
    t.count(),
    "Counts the posts of one instance; a lower one than seen before is ignored.",
    42,
  ),
};

const brokerViewSchema = t.object({
  receivedAt: t.required(
    time(),
    "When the broker last heard the cluster, by the broker's clock.",
    "2026-07-01T10:00:00.123Z",
  ),
  isStale: t.required(t.boolean(), "True: that was too long ago, and nothing is lent from it.", false),
  cordon: t.optional(
    t.object({
      by: t.required(shownClusterId(), "The admin who cordoned it.", "admin"),
      at: t.required(time(), "Since when.", "2026-07-01T09:00:00Z"),
      reason: t.optional(t.line(LIMIT.reasonLength), "Why, in words.", "new kernel"),
    }),
    "Nothing new is lent from it.",
  ),
  withheld: t.optional(
    resourceQuantitiesSchema,
    "What it borrows, or borrowed until minutes ago, and its older agent counts as its own: not lent on.",
    { cpu: "4", memory: "8Gi" },
  ),
  conditions: t.optional(
    t.array(
      t.object({
        type: t.required(t.oneOf(...CLUSTER_CONDITIONS), "What is wrong.", "Cordoned"),
        message: t.required(t.line(4096), "The same in words."),
        since: t.optional(time(), "Since when.", "2026-07-01T09:00:00Z"),
      }),
      CLUSTER_CONDITIONS.length,
    ),
    "Why it may get no new reservations, or lends more than it has. Absent: all is well.",
  ),
  price: t.optional(
    t.object({
      ...perKnownResource(({ pricedUnit, priceExamples }) =>
        t.optional(UNIT_PRICE, `Of ${pricedUnit}.`, Number(priceExamples.onDemand)),
      ),
      currency: t.required(currency(), "The policy's currency.", "EUR"),
    }),
    "What one hour costs now, on demand. Absent: not priced.",
  ),
  lends: t.optional(t.integer(0, MAX_COUNT), "Live reservations that it provides.", 2),
  borrows: t.optional(t.integer(0, MAX_COUNT), "Live reservations that it asked for.", 0),
});

export const advertisementSchema = t.message(
  "AdvertisementDTO",
  "What a cluster says it has and can lend. The newest one counts.",
  {
    clusterID: t.required(
      shownClusterId(),
      "The cluster that speaks: the Common Name of its certificate.",
      "rome",
    ),
    clusterName: t.optional(
      t.line(253),
      "A name to show. Not unique: older agents send an object's name.",
      "Rome data centre",
    ),
    resources: t.required(resourcesSchema, "What the cluster has, uses, lends and has left."),
    timestamp: t.required(
      time(),
      "When the agent computed it, by its own clock. Shown as skew, never trusted.",
      "2026-07-01T10:00:00Z",
    ),
    ...advertisedFields,
    ...accountingFields,
    standing: t.optional(
      brokerViewSchema,
      "How the broker sees the cluster: only in the broker's answers, ignored on input.",
    ),
  },
);
export type AdvertisementDTO = Infer<typeof advertisementSchema>;

export const advertisementReplySchema = t.message(
  "AdvertisementReplyDTO",
  "The broker's answer to an advertisement.",
  {
    advertisement: t.required(
      advertisementSchema,
      "The advertisement as accepted, with the broker's reserved and available.",
    ),
    providerInstructions: t.optional(
      t.array(reservationSchema, MAX_RESERVATIONS_PER_PROVIDER),
      "Live reservations that this cluster provides: saves the agent a poll.",
    ),
  },
);
export type AdvertisementReplyDTO = Infer<typeof advertisementReplySchema>;
