import { object, optional, prose, required } from "../schema/builders.ts";
import type { Infer } from "../schema/node.ts";
import { clusterId, dnsLabel, httpsUrl, time } from "../schema/terms.ts";
import { reservationCostSchema } from "../wire/cost.ts";
import { requestedQuantitiesSchema } from "../wire/quantities.ts";
import { endReasonSchema, generationSchema, phaseSchema } from "../wire/reservation.ts";
import { wishFields } from "../wire/reservation-request.ts";
import { AGE, type Kind, type KubernetesObject } from "./kind.ts";
import { statusFields } from "./shared-fields.ts";

/** On a person's Reservation: deleting it releases what it holds first. */
export const RESERVATION_FINALIZER = "reservation.broker.fluidos.eu/finalizer";

const specSchema = object({
  ...wishFields,
  targetClusterID: optional(
    clusterId(),
    "The cluster that lends. Left out, the broker fills in the best one; then it never changes.",
    { examples: ["paris"], lock: "set-once" },
  ),
  requestedResources: required(requestedQuantitiesSchema, "What is asked for; cpu and memory more than 0."),
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
  cost: optional(reservationCostSchema, "What it costs. Absent: the provider is not priced."),
  generation: optional(generationSchema, "Grows with every change of the reservation.", { examples: [1] }),
  decisionID: optional(dnsLabel(), "The decision that explains the choice.", { examples: ["dec-4f0q2"] }),
  explanation: optional(prose({ maxLength: 16_384 }), "Why the request was refused, cluster by cluster."),
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
      fieldPath: ".targetClusterID",
      rule: "!has(self.targetClusterID) || !has(self.requesterID) || self.targetClusterID != self.requesterID",
      message: "a cluster cannot borrow from itself: name another targetClusterID, or leave it out",
    },
  ],
};
export type Reservation = KubernetesObject<Infer<typeof specSchema>, Infer<typeof statusSchema>>;
