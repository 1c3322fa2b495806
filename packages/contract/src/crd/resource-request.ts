import type { KubernetesObject } from "@resource-broker/base";
import {
  array,
  boolean,
  integer,
  object,
  oneOf,
  optional,
  prose,
  record,
  required,
} from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import {
  dnsLabel,
  httpsUrl,
  labelKey,
  labelValue,
  reservationName,
  shownClusterId,
  time,
} from "../schema/terms.ts";
import { reservationCostSchema } from "../wire/cost.ts";
import { endReasonSchema, phaseSchema } from "../wire/reservation.ts";
import { requestOptionFields } from "../wire/reservation-request.ts";
import { AGE, type Kind, requestedColumns, requestedGpuColumn } from "./kind.ts";
import { MAX_EXPLANATION_LENGTH, requestedFields, statusFields } from "./shared-fields.ts";

const offloadSchema = object({
  namespaces: required(
    array(dnsLabel(), { minItems: 1, maxItems: 32 }),
    "Namespaces whose pods may run in the lending cluster.",
    { examples: [["shop"]] },
  ),
  podOffloadingStrategy: optional(
    oneOf("Local", "Remote", "LocalAndRemote"),
    "Where pods of those namespaces may run. Absent: LocalAndRemote.",
    { examples: ["LocalAndRemote"] },
  ),
  podSelector: optional(
    record(labelKey(), labelValue(), { maxProperties: 16 }),
    "Only pods with all of these labels. Absent: all pods. Liqo cannot tell pods apart: with it, nothing is delivered, and condition Peered says so; give those pods a namespace of their own.",
    { examples: [{ app: "shop" }] },
  ),
});

const specSchema = object({
  ...requestedFields,
  ...requestOptionFields,
  queue: optional(boolean(), "True: when nothing fits, try again until something does. Absent: false.", {
    examples: [true],
  }),
  offload: optional(offloadSchema, "Which pods shall use the borrowed resources."),
});

const statusSchema = object({
  phase: optional(phaseSchema, "Where the request is in its life. Released and Failed are final.", {
    examples: ["Reserved"],
  }),
  targetClusterID: optional(shownClusterId(), "The cluster that lends.", { examples: ["paris"] }),
  targetClusterEndpoint: optional(httpsUrl(), "Where that cluster's API server is reached.", {
    examples: ["https://10.0.0.7:6443"],
  }),
  reservationName: optional(reservationName(), "The reservation at the broker.", {
    examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
  }),
  reason: optional(endReasonSchema, "Why it ended.", { examples: ["Expired"] }),
  reservedAt: optional(time(), "When the resources were locked.", { examples: ["2026-07-01T10:00:00Z"] }),
  expiresAt: optional(time(), "When it ends by itself.", { examples: ["2026-07-01T11:30:00Z"] }),
  cost: optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
  decisionID: optional(dnsLabel(), "The broker's decision: brokerctl explain <decisionID>.", {
    examples: ["dec-4f0q2"],
  }),
  attempts: optional(integer({ minimum: 0, maximum: 2_147_483_647 }), "How often the broker was asked.", {
    examples: [1],
  }),
  nextAttemptTime: optional(time(), "When the broker is asked again, for a queued request.", {
    examples: ["2026-07-01T10:00:30Z"],
  }),
  explanation: optional(
    prose({ maxLength: MAX_EXPLANATION_LENGTH }),
    "Why the request was refused, cluster by cluster.",
  ),
  ...statusFields,
});

/** What a person creates in the cluster that is short. */
export const resourceRequestKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  group: "rear.fluidos.eu",
  version: "v1alpha1",
  kind: "ResourceRequest",
  plural: "resourcerequests",
  singular: "resourcerequest",
  shortNames: ["rreq"],
  description:
    "Asks for resources of another cluster. Create one where resources are short; delete it to give them back.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    ...requestedColumns,
    requestedGpuColumn,
    {
      name: "Phase",
      type: "string",
      jsonPath: ".status.phase",
      description: "Where the request is in its life.",
    },
    {
      name: "Target",
      type: "string",
      jsonPath: ".status.targetClusterID",
      description: "The cluster that lends.",
    },
    AGE,
    {
      name: "Reservation",
      type: "string",
      jsonPath: ".status.reservationName",
      description: "The reservation at the broker.",
      isWide: true,
    },
    {
      name: "Expires",
      type: "string",
      jsonPath: ".status.expiresAt",
      description: "When it ends by itself.",
      isWide: true,
    },
    {
      name: "Priority",
      type: "integer",
      jsonPath: ".spec.priority",
      description: "Orders requests that arrive together.",
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
  rules: [
    {
      at: "",
      fieldPath: ".spec",
      rule: "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Reserved', 'Active']) || self.spec == oldSelf.spec",
      message:
        "resources are already reserved for this request: delete it and create a new one to ask for something else",
    },
  ],
};
export type ResourceRequest = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
