import type { KubernetesObject } from "@resource-broker/base";
import { boolean, type Field, line, object, oneOf, optional, prose, required } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, dnsLabel, httpsUrl, reservationName, time } from "../schema/terms.ts";
import { reservationCostSchema } from "../wire/cost.ts";
import { requestedQuantitiesSchema } from "../wire/quantities.ts";
import {
  endReasonSchema,
  generationSchema,
  idempotencyKeySchema,
  phaseSchema,
  SLICE_DEFAULTS_TEXT,
  sliceDefaultsSchema,
} from "../wire/reservation.ts";
import { requestOptionFields } from "../wire/reservation-request.ts";
import { AGE, type Kind } from "./kind.ts";
import { MAX_EXPLANATION_LENGTH, statusFields } from "./shared-fields.ts";

/** On a person's Reservation: deleting it releases what it holds first. */
export const RESERVATION_FINALIZER = "reservation.broker.fluidos.eu/finalizer";

/** Large enough for a decision with all 64 candidates. */
const MAX_DECISION_LENGTH = 262_144;

const offerSchema = object({
  id: required(reservationName(), "The reservation that is still held.", {
    examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
  }),
  by: required(clusterId(), "The cluster that offers it: its requester or its provider.", {
    examples: ["paris"],
  }),
  phase: required(oneOf("Reserved", "Active"), "The last phase the agent heard of.", {
    examples: ["Active"],
  }),
  generation: required(generationSchema, "The last generation the agent heard of.", { examples: [2] }),
  createdAt: required(time(), "When it was asked for.", { examples: ["2026-07-01T10:00:00.123Z"] }),
  expiresAt: optional(time(), "When it ends by itself.", { examples: ["2026-07-01T11:30:00.123Z"] }),
  key: optional(idempotencyKeySchema, "Its idempotency key, if the requester offers it.", {
    examples: ["5f1c8a3e-2"],
  }),
});

const specSchema = object({
  ...requestOptionFields,
  priority: immutable(requestOptionFields.priority),
  constraints: immutable(requestOptionFields.constraints),
  perNode: immutable(requestOptionFields.perNode),
  tier: immutable(requestOptionFields.tier),
  start: immutable(requestOptionFields.start),
  targetClusterID: optional(
    clusterId(),
    "The cluster that lends. Left out, the broker fills in the best one; then it never changes.",
    { examples: ["paris"], lock: "set-once" },
  ),
  requestedResources: optional(
    requestedQuantitiesSchema,
    "What is asked for; cpu and memory more than 0. Only the intent Release goes without.",
    { lock: "immutable" },
  ),
  intent: optional(
    oneOf("Reserve", "Quote", "Release", "Adopt"),
    "What the object is for. Reserve: lock the resources. Quote: only say what would happen. Release: let no request with this key be served. Adopt: a hold that the broker has forgotten. Absent: Reserve.",
    { examples: ["Reserve"], lock: "immutable" },
  ),
  key: optional(
    idempotencyKeySchema,
    "Idempotency key of an agent's request; the object's name is made from it. Absent: the object's UID.",
    { examples: ["5f1c8a3e-2"], lock: "immutable" },
  ),
  offer: optional(offerSchema, "The hold that is offered, for the intent Adopt."),
  requesterID: optional(clusterId(), "The cluster that borrows. It is never its own provider.", {
    examples: ["rome"],
    lock: "immutable",
  }),
});

const statusSchema = object({
  phase: optional(phaseSchema, "Where the reservation is in its life. Released and Failed are final.", {
    examples: ["Reserved"],
  }),
  reason: optional(endReasonSchema, "Why it ended.", { examples: ["Expired"] }),
  reservedAt: optional(time(), "When the resources were locked.", { examples: ["2026-07-01T10:00:00Z"] }),
  expiresAt: optional(time(), "When it ends by itself.", { examples: ["2026-07-01T11:30:00Z"] }),
  targetClusterEndpoint: optional(httpsUrl(), "Where the lending cluster's API server is reached.", {
    examples: ["https://10.0.0.7:6443"],
  }),
  requesterLiqoID: optional(clusterId(), "The borrowing cluster's ID in Liqo.", { examples: ["cool-rome"] }),
  targetLiqoID: optional(clusterId(), "The lending cluster's ID in Liqo.", { examples: ["calm-paris"] }),
  sliceDefaults: optional(sliceDefaultsSchema, SLICE_DEFAULTS_TEXT),
  cost: optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
  generation: optional(generationSchema, "Grows with every change of the reservation.", { examples: [1] }),
  decisionID: optional(dnsLabel(), "The decision that explains the choice.", { examples: ["dec-4f0q2"] }),
  explanation: optional(
    prose({ maxLength: MAX_EXPLANATION_LENGTH }),
    "Why the request was refused, cluster by cluster.",
  ),
  reservationID: optional(reservationName(), "The reservation's name in the ledger and everywhere else.", {
    examples: ["rsv-rome-k3u7dq2hvmx5b4ta"],
  }),
  createdAt: optional(time(), "When it was asked for, by the broker's clock.", {
    examples: ["2026-07-01T10:00:00.123Z"],
  }),
  decision: optional(
    prose({ maxLength: MAX_DECISION_LENGTH }),
    "The whole decision as JSON (DecisionDTO): what `brokerctl explain` shows.",
  ),
  code: optional(line({ maxLength: 63 }), "Why it was refused, for machines: see the table of faults.", {
    examples: ["no-capacity"],
  }),
  renewed: optional(line({ maxLength: 253 }), "The renewal annotation that was last carried out.", {
    examples: ["1h 7c0f3a52"],
  }),
  fits: optional(boolean(), "Of a Quote: whether it would be granted right now.", { examples: [true] }),
  outcome: optional(
    oneOf("adopted", "waiting", "disputed", "refused"),
    "Of an Adopt: what became of the offer.",
    { examples: ["adopted"] },
  ),
  ledgerID: optional(line({ maxLength: 63 }), "The ledger this status comes from.", {
    examples: ["led-8c1f"],
  }),
  ...statusFields,
});

/** In the broker's cluster: a reservation, either a person's request or a view of the ledger. */
export const reservationKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  group: "broker.fluidos.eu",
  version: "v1alpha1",
  kind: "Reservation",
  plural: "reservations",
  singular: "reservation",
  shortNames: ["rsv"],
  description:
    "Resources of one cluster locked for another. Create one to ask for it; delete it to release it.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    {
      name: "Requester",
      type: "string",
      jsonPath: ".spec.requesterID",
      description: "The cluster that borrows.",
    },
    {
      name: "Target",
      type: "string",
      jsonPath: ".spec.targetClusterID",
      description: "The cluster that lends.",
    },
    {
      name: "CPU",
      type: "string",
      jsonPath: ".spec.requestedResources.cpu",
      description: "CPU that is held.",
    },
    {
      name: "Memory",
      type: "string",
      jsonPath: ".spec.requestedResources.memory",
      description: "Memory that is held.",
    },
    { name: "Phase", type: "string", jsonPath: ".status.phase", description: "Where it is in its life." },
    AGE,
    {
      name: "GPU",
      type: "string",
      jsonPath: ".spec.requestedResources.gpu",
      description: "GPUs that are held.",
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
      name: "Reason",
      type: "string",
      jsonPath: ".status.reason",
      description: "Why it ended.",
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
      at: "spec",
      fieldPath: ".requestedResources",
      rule: "has(self.requestedResources) || (has(self.intent) && self.intent == 'Release')",
      message: "must be stated: what is asked for, with cpu and memory",
    },
    {
      at: "spec",
      fieldPath: ".offer",
      rule: "has(self.offer) == (has(self.intent) && self.intent == 'Adopt')",
      message: "belongs to the intent Adopt, and only to it",
    },
    {
      at: "spec",
      fieldPath: ".key",
      rule: "!has(self.intent) || self.intent != 'Release' || has(self.key)",
      message: "must be stated for the intent Release: the key that shall not be served",
    },
    {
      at: "spec",
      fieldPath: ".targetClusterID",
      rule: "!has(self.targetClusterID) || !has(self.requesterID) || self.targetClusterID != self.requesterID",
      message: "a cluster cannot borrow from itself: name another targetClusterID, or leave it out",
    },
    // A rule instead of a lock, because its message names the alternative (renew).
    {
      at: "spec",
      fieldPath: ".duration",
      rule: "has(oldSelf.duration) ? has(self.duration) && self.duration == oldSelf.duration : !has(self.duration)",
      message:
        "duration cannot be changed: renew it to make it last longer (annotation broker.fluidos.eu/renew, or brokerctl renew), or create another object",
    },
  ],
};
export type Reservation = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;

/** Makes a field immutable: the request is decided once, so later changes would have no effect. */
function immutable<T>({ hints, ...field }: Field<T, true>): Field<T, true> {
  return { ...field, hints: { ...hints, lock: "immutable" } };
}
