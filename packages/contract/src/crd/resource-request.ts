import type { KubernetesObject } from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import {
  dnsLabel,
  duration,
  httpsUrl,
  labelKey,
  labelValue,
  reservationName,
  shownClusterId,
  time,
} from "../schema/terms.ts";
import { reservationCostSchema } from "../wire/cost.ts";
import { phaseSchema } from "../wire/reservation.ts";
import { requestOptionFields } from "../wire/reservation-request.ts";
import { placeField, queuePlaceFields } from "../wire/waiting.ts";
import { AGE, column, type Kind, MESSAGE, requestedColumns, wide, kindNames } from "./kind.ts";
import {
  explanationField,
  lifetimeFields,
  requestedFields,
  statusFields,
  tenantField,
} from "./shared-fields.ts";

const offloadSchema = t.object({
  namespaces: t.required(
    t.array(dnsLabel(), 32, { minItems: 1 }),
    "Namespaces whose pods may run in the lending cluster.",
    ["shop"],
  ),
  podOffloadingStrategy: t.optional(
    t.oneOf("Local", "Remote", "LocalAndRemote"),
    "Where pods of those namespaces may run. Absent: LocalAndRemote.",
    "LocalAndRemote",
  ),
  podSelector: t.optional(
    t.record(labelKey(), labelValue(), 16),
    "Only pods with all of these labels. Absent: all pods. Liqo cannot tell pods apart: with it, nothing is delivered, and condition Peered says so; give those pods a namespace of their own.",
    { app: "shop" },
  ),
});

const specSchema = t.object({
  ...requestedFields,
  ...requestOptionFields,
  queue: t.optional(t.boolean(), "True: when nothing fits, wait in the broker's queue. Absent: false.", true),
  queueTimeout: t.optional(
    duration("positive"),
    "The longest it waits in the queue; needs queue: true, and cannot be changed while it waits. Absent: as long as the broker's policy allows (queue.maxWait, 24h).",
    "4h",
  ),
  offload: t.optional(offloadSchema, "Which pods shall use the borrowed resources."),
});

const statusSchema = t.object({
  phase: t.optional(
    phaseSchema,
    "Where the request is in its life. Released and Failed are final.",
    "Reserved",
  ),
  targetClusterID: t.optional(shownClusterId(), "The cluster that lends.", "paris"),
  targetClusterEndpoint: t.optional(
    httpsUrl(),
    "Where that cluster's API server is reached.",
    "https://10.0.0.7:6443",
  ),
  reservationName: t.optional(
    reservationName(),
    "The reservation at the broker.",
    "rsv-rome-k3u7dq2hvmx5b4ta",
  ),
  ...lifetimeFields,
  cost: t.optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
  decisionID: t.optional(dnsLabel(), "The broker's decision: brokerctl explain <decisionID>.", "dec-4f0q2"),
  attempts: t.optional(t.integer(0, 2_147_483_647), "How often the broker was asked.", 1),
  resumes: t.optional(
    reservationName(),
    "The reservation of this request that was preempted: while nothing is reserved, the request asks for its place in the queue.",
    "rsv-rome-k3u7dq2hvmx5b4ta",
  ),
  nextAttemptTime: t.optional(
    time(),
    "When an older broker, without a queue, is asked again.",
    "2026-07-01T10:00:30Z",
  ),
  tenant: tenantField,
  queue: t.optional(
    t.object({
      ...queuePlaceFields,
      place: placeField,
    }),
    "Its place in the queue when the broker was last asked. Absent: it does not wait.",
  ),
  explanation: explanationField,
  ...statusFields,
});

/** What a person creates in the cluster that is short. */
export const resourceRequestKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  ...kindNames("rear.fluidos.eu", "ResourceRequest", "rreq"),
  description:
    "Asks for resources of another cluster. Create one where resources are short; delete it to give them back.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    ...requestedColumns.main,
    column("Phase", ".status.phase", "Where the request is in its life."),
    column("Target", ".status.targetClusterID", "The cluster that lends."),
    AGE,
    ...requestedColumns.wide,
    wide(column("Queue", ".status.queue.place", "Its place in the queue.")),
    wide(column("Tenant", ".status.tenant", "The tenant that it counts for.")),
    wide(column("Reservation", ".status.reservationName", "The reservation at the broker.")),
    wide(column("Expires", ".status.expiresAt", "When it ends by itself.")),
    wide({
      ...column("Priority", ".spec.priority", "Orders requests that arrive together."),
      type: "integer",
    }),
    MESSAGE,
  ],
  rules: [
    // Without oldSelf: API servers let an object that broke it before keep its spec.
    {
      at: "spec",
      fieldPath: ".queueTimeout",
      rule: "!has(self.queueTimeout) || (has(self.queue) && self.queue)",
      message:
        "has no effect without queue: true: set queue to true to let the request wait, or remove queueTimeout",
    },
    // The agent's status names a reservation of a pending request only while it waits.
    {
      at: "",
      fieldPath: ".spec.queueTimeout",
      rule: "!has(oldSelf.status) || !has(oldSelf.status.phase) || oldSelf.status.phase != 'Pending' || !has(oldSelf.status.reservationName) || !has(self.spec.queue) || !self.spec.queue || (has(self.spec.queueTimeout) ? has(oldSelf.spec.queueTimeout) && self.spec.queueTimeout == oldSelf.spec.queueTimeout : !has(oldSelf.spec.queueTimeout))",
      message:
        "cannot be changed while the request waits: delete it and create a new one with the time that you want; the new one waits at the end of the queue",
    },
    {
      at: "",
      fieldPath: ".spec",
      rule: "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Reserved', 'Active']) || self.spec == oldSelf.spec",
      message:
        "resources are already reserved for this request: delete it and create a new one to ask for something else",
    },
    {
      at: "",
      fieldPath: ".spec",
      rule: "!has(oldSelf.status) || !has(oldSelf.status.phase) || !(oldSelf.status.phase in ['Released', 'Failed']) || self.spec == oldSelf.spec",
      message:
        "this request has ended, and nothing is asked for it again: delete it and create a new one to ask for something else",
    },
  ],
};
export type ResourceRequest = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
