import { adoptionOpeningSchema, adoptionWindowSchema } from "../../src/wire/adoption.ts";
import { advertisementPageSchema, advertisementSchema } from "../../src/wire/advertisement.ts";
import { auditPageSchema } from "../../src/wire/audit.ts";
import { cordonReplySchema, cordonRequestSchema } from "../../src/wire/cordon.ts";
import { dashboardLinkRequestSchema, dashboardLinkSchema } from "../../src/wire/dashboard-link.ts";
import { policyReplySchema } from "../../src/wire/policy-reply.ts";
import { reservationListSchema, reservationSchema } from "../../src/wire/reservation.ts";
import * as examples from "./examples.ts";
import type { Route } from "./route.ts";

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
    method: "get",
    path: "/api/v1/advertisements/{clusterID}",
    operationId: "getAdvertisement",
    tag: "Advertisements",
    summary: "Read one cluster's advertisement",
    description: "For that cluster and admins. With the broker's own reserved and available.",
    parameters: ["clusterID"],
    reply: {
      status: 200,
      description: "The newest advertisement.",
      body: { schema: advertisementSchema, example: examples.advertisement },
    },
    faults: ["not-found"],
  },
  {
    method: "get",
    path: "/api/v1/advertisements",
    operationId: "listAdvertisements",
    tag: "Advertisements",
    summary: "List all advertisements",
    description: "For admins, in pages.",
    parameters: ["limit", "after"],
    reply: {
      status: 200,
      description: "One page.",
      body: { schema: advertisementPageSchema, example: { items: [examples.advertisement] } },
    },
    faults: ["invalid"],
  },
  {
    method: "get",
    path: "/api/v1/reservations",
    operationId: "listReservations",
    tag: "Reservations",
    summary: "List reservations",
    description:
      'Your own; admins see all. A plain array; long lists go on at the Link header. The first Go agents, which send no Agent-Protocol and name themselves with clusterID, get {"reservations": [...]} with what lives.',
    parameters: ["role", "limit", "after"],
    reply: {
      status: 200,
      description: "Reservations, also ended ones for at least 24 hours.",
      body: { schema: reservationListSchema, example: [examples.reservation] },
      headers: ["Link"],
    },
    faults: ["invalid"],
  },
  {
    method: "get",
    path: "/api/v1/reservations/{id}",
    operationId: "getReservation",
    tag: "Reservations",
    summary: "Read one reservation",
    description: "For its two parties and admins. To others it does not exist.",
    parameters: ["reservationID"],
    reply: {
      status: 200,
      description: "The reservation.",
      body: { schema: reservationSchema, example: examples.reservation },
    },
    faults: ["not-found"],
  },
  {
    method: "post",
    path: "/api/v1/clusters/{clusterID}/cordon",
    operationId: "cordon",
    tag: "Administration",
    summary: "Let a cluster lend nothing new",
    description: "For admins. What it lends already stays.",
    parameters: ["clusterID"],
    body: { schema: cordonRequestSchema, example: { reason: "maintenance until Friday" } },
    isBodyOptional: true,
    reply: { status: 200, description: "Cordoned.", body: cordonReply(true) },
    faults: ["malformed", "invalid", "not-found"],
  },
  {
    method: "post",
    path: "/api/v1/clusters/{clusterID}/uncordon",
    operationId: "uncordon",
    tag: "Administration",
    summary: "Let a cluster lend again",
    description: "For admins.",
    parameters: ["clusterID"],
    reply: { status: 200, description: "Lending again.", body: cordonReply(false) },
    faults: ["not-found"],
  },
  {
    method: "get",
    path: "/api/v1/adoptions/window",
    operationId: "getAdoptionWindow",
    tag: "Administration",
    summary: "Read whether holds can be adopted",
    description:
      "For admins. Open for 24 hours after the ledger was made empty or restored, and while an admin opens it.",
    reply: { status: 200, description: "The window.", body: adoptionWindow },
    faults: [],
  },
  {
    method: "post",
    path: "/api/v1/adoptions/window",
    operationId: "openAdoption",
    tag: "Administration",
    summary: "Let holds made before now be adopted for a while",
    description: "For admins. Replaces the window in force. In the audit log.",
    body: { schema: adoptionOpeningSchema, example: { duration: "1h" } },
    reply: { status: 200, description: "Open.", body: adoptionWindow },
    faults: ["malformed", "invalid"],
  },
  {
    method: "delete",
    path: "/api/v1/adoptions/window",
    operationId: "closeAdoption",
    tag: "Administration",
    summary: "Adopt nothing more",
    description: "For admins. Closing what is closed changes nothing. In the audit log.",
    reply: { status: 200, description: "Closed.", body: adoptionWindow },
    faults: [],
  },
  {
    method: "get",
    path: "/api/v1/audit",
    operationId: "listAudit",
    tag: "Administration",
    summary: "Read the audit log",
    description: "For admins, oldest first, in pages.",
    parameters: ["limit", "after"],
    reply: {
      status: 200,
      description: "One page.",
      body: { schema: auditPageSchema, example: examples.auditPage },
    },
    faults: ["invalid"],
  },
  {
    method: "get",
    path: "/api/v1/policy",
    operationId: "getPolicy",
    tag: "Administration",
    summary: "Read the policy in force",
    description: "For admins.",
    reply: {
      status: 200,
      description: "The policy, with the defaults filled in.",
      body: { schema: policyReplySchema, example: examples.policyReply },
    },
    faults: [],
  },
  {
    method: "post",
    path: "/api/v1/dashboard/links",
    operationId: "createDashboardLink",
    tag: "Administration",
    summary: "Make a link that signs one browser in to the dashboard",
    description:
      "For admins. The link works once, for two minutes; not-found while --dashboard-bind-address is off.",
    body: { schema: dashboardLinkRequestSchema, example: { role: "viewer" } },
    isBodyOptional: true,
    reply: {
      status: 201,
      description: "Made.",
      body: { schema: dashboardLinkSchema, example: examples.dashboardLink },
    },
    faults: ["malformed", "invalid", "not-found"],
  },
  {
    method: "get",
    path: "/healthz",
    operationId: "health",
    tag: "Health",
    summary: "Is the process alive",
    description: "For everyone, on the API port and the probe port.",
    reply: { status: 200, description: "Alive.", mediaType: "text/plain", textExample: "ok" },
    faults: [],
    isPublic: true,
  },
  {
    method: "get",
    path: "/readyz",
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
    method: "get",
    path: "/metrics",
    operationId: "metrics",
    tag: "Health",
    summary: "Metrics for Prometheus",
    description: "On the probe port.",
    reply: { status: 200, description: "The metrics.", mediaType: "text/plain" },
    faults: [],
    isPublic: true,
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "openapi",
    tag: "Health",
    summary: "This document",
    description: "On the probe port.",
    reply: { status: 200, description: "This document." },
    faults: [],
    isPublic: true,
  },
];
