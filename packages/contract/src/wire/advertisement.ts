import { MAX_GPU_MODELS, MAX_NODE_SHAPES, MAX_RESERVATIONS_PER_PROVIDER } from "@resource-broker/domain";
import {
  array,
  boolean,
  integer,
  line,
  object,
  optional,
  record,
  required,
  titled,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import {
  clusterId,
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

const nodeShapeSchema = object({
  count: required(
    integer({ minimum: 1, maximum: MAX_COUNT }),
    "How many nodes have room for at least this much.",
    {
      examples: [3],
    },
  ),
  cpu: required(quantity("non-negative"), "Free CPU of each of them.", { examples: ["8"] }),
  memory: required(quantity("non-negative"), "Free memory of each of them.", { examples: ["32Gi"] }),
  gpu: optional(quantity("non-negative"), "Free GPUs of each of them.", { examples: ["1"] }),
  storage: optional(quantity("non-negative"), "Free ephemeral storage of each of them.", {
    examples: ["100Gi"],
  }),
  extended: optional(extendedQuantities("non-negative"), "Other free extended resources of each of them."),
});

const gpuModelSchema = object({
  model: required(line({ minLength: 1, maxLength: 63 }), "Model as the node's label names it.", {
    examples: ["NVIDIA-A100-SXM4-40GB"],
  }),
  count: required(integer({ minimum: 0, maximum: MAX_COUNT }), "How many of them the cluster has.", {
    examples: [4],
  }),
  memory: optional(quantity("non-negative"), "Memory of one GPU.", { examples: ["40Gi"] }),
});

const usageSchema = object({
  reservationID: required(reservationName(), "The reservation that is held.", {
    examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
  }),
  granted: required(resourceQuantitiesSchema, "What the agent holds for it."),
  used: required(resourceQuantitiesSchema, "Requests of the pods that run for it right now, possibly 0."),
});

/** Advertised fields other than resources; shared by the wire format and the advertisement kinds. */
export const advertisedFields = {
  cost: optional(costSchema, "What the cluster asks for its capacity. Absent: not priced."),
  endpointURL: optional(httpsUrl(), "Where the cluster's API server is reached.", {
    examples: ["https://10.0.0.7:6443"],
  }),
  labels: optional(
    record(labelKey(), labelValue(), { maxProperties: LIMIT.labels }),
    "Labels that requests can ask for, such as region and zone.",
    { examples: [{ "topology.kubernetes.io/region": "eu-west" }] },
  ),
  nodeShapes: optional(
    array(nodeShapeSchema, { maxItems: MAX_NODE_SHAPES }),
    "The free room of single nodes, in buckets: for requests that must fit one node.",
  ),
  gpus: optional(array(gpuModelSchema, { maxItems: MAX_GPU_MODELS }), "The GPU models of the cluster."),
  liqo: optional(
    object({
      clusterID: required(clusterId(), "The cluster's ID in Liqo; not the broker's.", {
        examples: ["cool-rome"],
      }),
      version: required(line({ maxLength: 63 }), "Version of Liqo.", { examples: ["v1.2.0"] }),
    }),
    "The cluster's identity in Liqo. Absent: Liqo is not installed.",
  ),
};

/** Usage and ordering of posts; absent from older agents. */
export const accountingFields = {
  usage: optional(
    array(usageSchema, { maxItems: MAX_RESERVATIONS_PER_PROVIDER }),
    "One entry for each hold the agent knows of, with what its pods request.",
  ),
  instance: optional(
    line({ minLength: 1, maxLength: 63 }),
    "Names the agent process: a new one replaces the old.",
    {
      examples: ["7c0f3a52"],
    },
  ),
  sequence: optional(
    integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    "Counts the posts of one instance; a lower one than seen before is ignored.",
    { examples: [42] },
  ),
};

const brokerViewSchema = object({
  receivedAt: required(time(), "When the broker last heard the cluster, by the broker's clock.", {
    examples: ["2026-07-01T10:00:00.123Z"],
  }),
  isStale: required(boolean(), "True: that was too long ago, and nothing is lent from it.", {
    examples: [false],
  }),
  cordon: optional(
    object({
      by: required(shownClusterId(), "The admin who cordoned it.", { examples: ["admin"] }),
      at: required(time(), "Since when.", { examples: ["2026-07-01T09:00:00Z"] }),
      reason: optional(line({ maxLength: LIMIT.reasonLength }), "Why, in words.", {
        examples: ["new kernel"],
      }),
    }),
    "Nothing new is lent from it.",
  ),
  withheld: optional(
    resourceQuantitiesSchema,
    "What it borrows, or borrowed until minutes ago, and its older agent counts as its own: not lent on.",
    { examples: [{ cpu: "4", memory: "8Gi" }] },
  ),
});

export const advertisementSchema = titled(
  "AdvertisementDTO",
  object({
    clusterID: required(shownClusterId(), "The cluster that speaks: the Common Name of its certificate.", {
      examples: ["rome"],
    }),
    clusterName: optional(
      line({ maxLength: 253 }),
      "A name to show. Not unique: older agents send an object's name.",
      {
        examples: ["Rome data centre"],
      },
    ),
    resources: required(resourcesSchema, "What the cluster has, uses, lends and has left."),
    timestamp: required(
      time(),
      "When the agent computed it, by its own clock. Shown as skew, never trusted.",
      {
        examples: ["2026-07-01T10:00:00Z"],
      },
    ),
    ...advertisedFields,
    ...accountingFields,
    standing: optional(
      brokerViewSchema,
      "How the broker sees the cluster: only in the broker's answers, ignored on input.",
    ),
  }),
  "What a cluster says it has and can lend. The newest one counts.",
);
export type AdvertisementDTO = Infer<typeof advertisementSchema>;

export const advertisementReplySchema = titled(
  "AdvertisementReplyDTO",
  object({
    advertisement: required(
      advertisementSchema,
      "The advertisement as accepted, with the broker's reserved and available.",
    ),
    providerInstructions: optional(
      array(reservationSchema, { maxItems: MAX_RESERVATIONS_PER_PROVIDER }),
      "Live reservations that this cluster provides: saves the agent a poll.",
    ),
  }),
  "The broker's answer to an advertisement.",
);
export type AdvertisementReplyDTO = Infer<typeof advertisementReplySchema>;
