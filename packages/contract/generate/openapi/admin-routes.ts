import {
  adoptionOpeningSchema,
  adoptionWindowSchema,
  advertisementPageSchema,
  auditPageSchema,
  cordonReplySchema,
  cordonRequestSchema,
  drainReplySchema,
  drainRequestSchema,
  dashboardLinkRequestSchema,
  dashboardLinkSchema,
  policyReplySchema,
} from "../../src/wire/admin.ts";
import { advertisementSchema } from "../../src/wire/advertisement.ts";
import { reservationListSchema, reservationSchema } from "../../src/wire/reservation.ts";
import { tenantPageSchema } from "../../src/wire/tenant.ts";
import * as examples from "./examples.ts";
import { created, ok, type Route } from "./route.ts";

const cordonReply = (cordoned: boolean) => ({
  schema: cordonReplySchema,
  example: { clusterID: "tokyo", cordoned },
});

const adoptionWindow = {
  schema: adoptionWindowSchema,
  example: {
    open: true,
    since: "2026-07-01T10:00:00.123Z",
    until: "2026-07-02T10:00:00.123Z",
    cause: "restored",
  },
};

/** What is read by clusters and people, and what only admins may do. */
export const ADMIN_ROUTES: readonly Route[] = [
  {
    call: "GET /api/v1/advertisements/{clusterID}",
    operationId: "getAdvertisement",
    tag: "Advertisements",
    summary: "Read one cluster's advertisement",
    description: "For that cluster and admins. With the broker's own reserved and available.",
    parameters: ["clusterID"],
    reply: ok("The newest advertisement.", { schema: advertisementSchema, example: examples.advertisement }),
    faults: ["not-found"],
  },
  {
    call: "GET /api/v1/advertisements",
    operationId: "listAdvertisements",
    tag: "Advertisements",
    summary: "List all advertisements",
    description:
      "For admins, in pages: by cluster ID with after, or sorted and filtered with offset, then with totals.",
    parameters: ["clusterSort", "order", "q", "clusterState", "offset", "limit", "after"],
    reply: ok("One page.", { schema: advertisementPageSchema, example: { items: [examples.advertisement] } }),
    faults: ["invalid"],
  },
  {
    call: "GET /api/v1/reservations",
    operationId: "listReservations",
    tag: "Reservations",
    summary: "List reservations",
    description:
      'Your own; admins see all. A plain array; long lists go on at the Link header. Sorted or filtered lists go on with offset and say in Total-Count how many match. The first Go agents, which send no Agent-Protocol and name themselves with clusterID, get {"reservations": [...]} with what lives.',
    parameters: [
      "role",
      "reservationSort",
      "order",
      "q",
      "phase",
      "requesterID",
      "provider",
      "party",
      "offset",
      "limit",
      "after",
    ],
    reply: {
      status: 200,
      description: "Reservations, also ended ones for at least 24 hours.",
      body: { schema: reservationListSchema, example: [examples.reservation] },
      headers: ["Link", "Total-Count"],
    },
    faults: ["invalid"],
  },
  {
    call: "GET /api/v1/reservations/{id}",
    operationId: "getReservation",
    tag: "Reservations",
    summary: "Read one reservation",
    description: "For its two parties and admins. To others it does not exist.",
    parameters: ["reservationID"],
    reply: ok("The reservation.", { schema: reservationSchema, example: examples.reservation }),
    faults: ["not-found"],
  },
  {
    call: "POST /api/v1/clusters/{clusterID}/cordon",
    operationId: "cordon",
    tag: "Administration",
    summary: "Let a cluster lend nothing new",
    description: "For admins. What it lends already stays.",
    parameters: ["clusterID"],
    body: { schema: cordonRequestSchema, example: { reason: "maintenance until Friday" } },
    isBodyOptional: true,
    reply: ok("Cordoned.", cordonReply(true)),
    faults: ["malformed", "invalid", "not-found"],
  },
  {
    call: "POST /api/v1/clusters/{clusterID}/uncordon",
    operationId: "uncordon",
    tag: "Administration",
    summary: "Let a cluster lend again",
    description: "For admins. Withdraws the notices of a drain.",
    parameters: ["clusterID"],
    reply: ok("Lending again.", cordonReply(false)),
    faults: ["not-found"],
  },
  {
    call: "POST /api/v1/clusters/{clusterID}/drain",
    operationId: "drain",
    tag: "Administration",
    summary: "Give notice to what a cluster lends, and let it lend nothing new",
    description:
      "For admins. Each reservation ends as Preempted when its notice is over, and cannot be renewed until then. Those whose requester's agent knows of no notices stay. Needs no preemption policy. Uncordoning the cluster withdraws the notices.",
    parameters: ["clusterID"],
    body: { schema: drainRequestSchema, example: { reason: "maintenance until Friday", grace: "30m" } },
    isBodyOptional: true,
    reply: ok("Cordoned; notice was given.", {
      schema: drainReplySchema,
      example: {
        clusterID: "tokyo",
        cordoned: true,
        reason: "maintenance until Friday",
        noticed: ["rsv-rome-k3u7dq2hvmx5b4ta"],
        untold: [],
      },
    }),
    faults: ["malformed", "invalid", "not-found"],
  },
  {
    call: "GET /api/v1/tenants",
    operationId: "listTenants",
    tag: "Administration",
    summary: "Who holds how much of the fleet, and who waits",
    description:
      "For admins. The tenants of the policy, then clusters without one that hold something or wait, in pages.",
    parameters: ["limit", "offset"],
    reply: ok("One page.", {
      schema: tenantPageSchema,
      example: { items: [examples.tenant], total: 1 },
    }),
    faults: ["invalid"],
  },
  {
    call: "GET /api/v1/adoptions/window",
    operationId: "getAdoptionWindow",
    tag: "Administration",
    summary: "Read whether holds can be adopted",
    description:
      "For admins. Open for 24 hours after the ledger was made empty or restored, and while an admin opens it.",
    reply: ok("The window.", adoptionWindow),
  },
  {
    call: "POST /api/v1/adoptions/window",
    operationId: "openAdoption",
    tag: "Administration",
    summary: "Let holds made before now be adopted for a while",
    description: "For admins. Replaces the window in force. In the audit log.",
    body: { schema: adoptionOpeningSchema, example: { duration: "1h" } },
    reply: ok("Open.", adoptionWindow),
    faults: ["malformed", "invalid"],
  },
  {
    call: "DELETE /api/v1/adoptions/window",
    operationId: "closeAdoption",
    tag: "Administration",
    summary: "Adopt nothing more",
    description: "For admins. Closing what is closed changes nothing. In the audit log.",
    reply: ok("Closed.", adoptionWindow),
  },
  {
    call: "GET /api/v1/audit",
    operationId: "listAudit",
    tag: "Administration",
    summary: "Read the audit log",
    description:
      "For admins, oldest first, in pages; with order=desc newest first, with a search (q) and whether the chain is intact.",
    parameters: ["order", "q", "limit", "after"],
    reply: ok("One page.", { schema: auditPageSchema, example: examples.auditPage }),
    faults: ["invalid"],
  },
  {
    call: "GET /api/v1/policy",
    operationId: "getPolicy",
    tag: "Administration",
    summary: "Read the policy in force",
    description: "For admins.",
    reply: ok("The policy, with the defaults filled in.", {
      schema: policyReplySchema,
      example: examples.policyReply,
    }),
  },
  {
    call: "POST /api/v1/dashboard/links",
    operationId: "createDashboardLink",
    tag: "Administration",
    summary: "Make a link that signs one browser in to the dashboard",
    description:
      "For admins. The link works once, for two minutes; not-found while --dashboard-bind-address is off.",
    body: { schema: dashboardLinkRequestSchema, example: { role: "viewer" } },
    isBodyOptional: true,
    reply: created("Made.", { schema: dashboardLinkSchema, example: examples.dashboardLink }),
    faults: ["malformed", "invalid", "not-found"],
  },
  {
    call: "GET /healthz",
    operationId: "health",
    tag: "Health",
    summary: "Is the process alive",
    description: "For everyone, on the API port and the probe port.",
    reply: { status: 200, description: "Alive.", mediaType: "text/plain", textExample: "ok" },
    isPublic: true,
  },
  {
    call: "GET /readyz",
    operationId: "readiness",
    tag: "Health",
    summary: "Can it serve",
    description:
      "On the probe port. Of several replicas only the leader is ready. ?verbose lists each check; ?exclude=<check>, also more than once, leaves one out: ?exclude=leading asks whether a replica is well, leading or not. A check marked [!] is only shown: a ledger that cannot be written (ledger-writes) keeps nobody from reading.",
    reply: { status: 200, description: "Ready.", mediaType: "text/plain", textExample: "ok" },
    faults: ["invalid", "store-unavailable", "not-leader"],
    isPublic: true,
  },
  {
    call: "GET /metrics",
    operationId: "metrics",
    tag: "Health",
    summary: "Metrics for Prometheus",
    description: "On the probe port.",
    reply: { status: 200, description: "The metrics.", mediaType: "text/plain" },
    isPublic: true,
  },
  {
    call: "GET /openapi.json",
    operationId: "openapi",
    tag: "Health",
    summary: "This document",
    description: "On the probe port.",
    reply: { status: 200, description: "This document." },
    isPublic: true,
  },
];
