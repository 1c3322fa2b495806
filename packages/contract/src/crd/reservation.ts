import type { KubernetesObject } from "@resource-broker/base";
import * as t from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, dnsLabel, httpsUrl, reservationName, time } from "../schema/terms.ts";
import { offeredHoldFields } from "../wire/adoption.ts";
import { reservationCostSchema } from "../wire/cost.ts";
import { requestedQuantitiesSchema } from "../wire/quantities.ts";
import {
  generationSchema,
  idempotencyKeySchema,
  phaseSchema,
  SLICE_DEFAULTS_TEXT,
  sliceDefaultsSchema,
} from "../wire/reservation.ts";
import { requestOptionFields, waitOptionFields } from "../wire/reservation-request.ts";
import { placeField, queueStandingFields, sinceField } from "../wire/waiting.ts";
import { AGE, column, heldColumns, type Kind, MESSAGE, wide, kindNames } from "./kind.ts";
import { explanationField, lifetimeFields, statusFields, tenantField } from "./shared-fields.ts";

/** On every Reservation that asks for resources, an agent's or a person's: deleting it releases its reservation first. */
export const RESERVATION_FINALIZER = "reservation.broker.fluidos.eu/finalizer";

/** Large enough for a decision with all 64 candidates. */
const MAX_DECISION_LENGTH = 262_144;

const offerSchema = t.object({
  id: t.required(reservationName(), "The reservation that is still held.", "rsv-rome-k3u7dq2hvmx5b4ta"),
  by: t.required(clusterId(), "The cluster that offers it: its requester or its provider.", "paris"),
  ...offeredHoldFields,
});

const specSchema = t.object({
  ...requestOptionFields,
  priority: t.immutable(requestOptionFields.priority),
  constraints: t.immutable(requestOptionFields.constraints),
  perNode: t.immutable(requestOptionFields.perNode),
  tier: t.immutable(requestOptionFields.tier),
  start: t.immutable(requestOptionFields.start),
  wait: t.immutable(waitOptionFields.wait),
  resumes: t.immutable(waitOptionFields.resumes),
  namespace: t.immutable(waitOptionFields.namespace),
  targetClusterID: t.setOnce(
    t.optional(
      clusterId(),
      "The cluster that lends. Left out, the broker fills in the best one; then it never changes.",
      "paris",
    ),
  ),
  requestedResources: t.immutable(
    t.optional(
      requestedQuantitiesSchema,
      "What is asked for; cpu and memory more than 0. Only the intent Release goes without.",
    ),
  ),
  intent: t.immutable(
    t.optional(
      t.oneOf("Reserve", "Quote", "Release", "Adopt"),
      "What the object is for. Reserve: lock the resources. Quote: only say what would happen. Release: let no request with this key be served. Adopt: a hold that the broker has forgotten. Absent: Reserve.",
      "Reserve",
    ),
  ),
  key: t.immutable(
    t.optional(
      idempotencyKeySchema,
      "Idempotency key of an agent's request; the object's name is made from it. Absent: the object's UID.",
      "5f1c8a3e-2",
    ),
  ),
  offer: t.optional(offerSchema, "The hold that is offered, for the intent Adopt."),
  requesterID: t.immutable(
    t.optional(clusterId(), "The cluster that borrows. It is never its own provider.", "rome"),
  ),
});

const statusSchema = t.object({
  phase: t.optional(
    phaseSchema,
    "Where the reservation is in its life. Released and Failed are final.",
    "Reserved",
  ),
  ...lifetimeFields,
  targetClusterEndpoint: t.optional(
    httpsUrl(),
    "Where the lending cluster's API server is reached.",
    "https://10.0.0.7:6443",
  ),
  requesterLiqoID: t.optional(clusterId(), "The borrowing cluster's ID in Liqo.", "cool-rome"),
  targetLiqoID: t.optional(clusterId(), "The lending cluster's ID in Liqo.", "calm-paris"),
  sliceDefaults: t.optional(sliceDefaultsSchema, SLICE_DEFAULTS_TEXT),
  cost: t.optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
  generation: t.optional(generationSchema, "Grows with every change of the reservation.", 1),
  decisionID: t.optional(dnsLabel(), "The decision that explains the choice.", "dec-4f0q2"),
  explanation: explanationField,
  reservationID: t.optional(
    reservationName(),
    "The reservation's name in the ledger and everywhere else.",
    "rsv-rome-k3u7dq2hvmx5b4ta",
  ),
  createdAt: t.optional(time(), "When it was asked for, by the broker's clock.", "2026-07-01T10:00:00.123Z"),
  decision: t.optional(
    t.prose(MAX_DECISION_LENGTH),
    "The whole decision as JSON (DecisionDTO): what `brokerctl explain` shows.",
  ),
  code: t.optional(t.line(63), "Why it was refused, for machines: see the table of faults.", "no-capacity"),
  renewed: t.optional(t.line(253), "The renewal annotation that was last carried out.", "1h 7c0f3a52"),
  fits: t.optional(t.boolean(), "Of a Quote: whether it would be granted right now.", true),
  outcome: t.optional(
    t.oneOf("adopted", "waiting", "disputed", "refused"),
    "Of an Adopt: what became of the offer.",
    "adopted",
  ),
  since: sinceField,
  until: t.optional(
    time(),
    "Of a request that waits, or has left the queue without a reservation: it fails if it has none by then.",
    "2026-07-02T10:00:00.123Z",
  ),
  tenant: tenantField,
  queue: t.optional(
    t.object({ ...queueStandingFields, place: placeField }),
    "Its place in the queue, a short while ago. Absent: it does not wait, or the broker has not looked yet.",
  ),
  ledgerID: t.optional(t.line(63), "The ledger this status comes from.", "led-8c1f"),
  ...statusFields,
});

/** In the broker's cluster: a reservation, either a person's request or a view of the ledger. */
export const reservationKind: Kind<Infer<typeof specSchema>, Infer<typeof statusSchema>> = {
  ...kindNames("broker.fluidos.eu", "Reservation", "rsv"),
  description:
    "Resources of one cluster locked for another. Create one to ask for it; delete it to release it.",
  spec: specSchema,
  status: statusSchema,
  columns: [
    column("Requester", ".spec.requesterID", "The cluster that borrows."),
    column("Target", ".spec.targetClusterID", "The cluster that lends."),
    column("CPU", ".spec.requestedResources.cpu", "CPU that is held."),
    column("Memory", ".spec.requestedResources.memory", "Memory that is held."),
    column("Phase", ".status.phase", "Where it is in its life."),
    AGE,
    wide(column("GPU", ".spec.requestedResources.gpu", "GPUs that are held.")),
    ...heldColumns.wide,
    wide(column("Queue", ".status.queue.place", "Its place in the queue.")),
    wide(column("Tenant", ".status.tenant", "The tenant that it waits for.")),
    wide(column("Expires", ".status.expiresAt", "When it ends by itself.")),
    wide(column("Reason", ".status.reason", "Why it ended.")),
    MESSAGE,
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
