import { adoptionReplySchema, adoptionRequestSchema } from "../../src/wire/adoption.ts";
import { advertisementReplySchema, advertisementSchema } from "../../src/wire/advertisement.ts";
import { decisionSchema, quoteSchema } from "../../src/wire/decision.ts";
import { acknowledgementSchema } from "../../src/wire/instructions.ts";
import { reservationListSchema, reservationSchema } from "../../src/wire/reservation.ts";
import { queuePageSchema, waitingRequestSchema } from "../../src/wire/waiting.ts";
import { renewRequestSchema, reservationRequestSchema } from "../../src/wire/reservation-request.ts";
import * as examples from "./examples.ts";
import { created, ok, type Route } from "./route.ts";

const reservationBody = { schema: reservationSchema, example: examples.reservation };
const eitherBody = { ...reservationBody, otherSchema: waitingRequestSchema };
const waitingBody = { schema: waitingRequestSchema, example: examples.waiting };
const WITH_BODY = ["malformed", "invalid", "too-large", "unsupported-media"] as const;

/** What agents call. */
export const AGENT_ROUTES: readonly Route[] = [
  {
    call: "POST /api/v1/advertisements",
    operationId: "advertise",
    tag: "Advertisements",
    summary: "Say what your cluster has and can lend",
    description:
      "For the cluster itself: clusterID must be the Common Name of the certificate. The newest advertisement counts. `reserved` and `available` are computed by the broker and ignored here.",
    parameters: ["agentProtocol", "agentIdentity"],
    body: { schema: advertisementSchema, example: examples.advertisement },
    reply: ok("Accepted.", {
      schema: advertisementReplySchema,
      example: { advertisement: examples.advertisement, providerInstructions: [examples.instruction] },
    }),
    faults: [...WITH_BODY, "superseded", "liqo-id-taken"],
  },
  {
    call: "POST /api/v1/reservations",
    operationId: "reserve",
    tag: "Reservations",
    summary: "Reserve resources in the best cluster",
    description:
      "For any cluster, and for admins on behalf of one. Decides, locks and answers in one call; the answer is sent when it is durable. The same key and request again: the current state of the same reservation. With `wait`, what does not fit now waits in the queue.",
    parameters: ["requester", "idempotencyKey", "agentProtocol"],
    body: { schema: reservationRequestSchema, example: examples.reservationRequest },
    reply: created("Locked.", reservationBody),
    otherReplies: [
      {
        status: 202,
        description:
          "Nobody has room, and it waits: ask for it by its id, or follow the stream. Only with `wait`.",
        body: waitingBody,
        headers: ["Idempotency-Replayed"],
      },
      {
        status: 200,
        description: "A retry: what this key made, as it is now.",
        body: eitherBody,
        headers: ["Idempotency-Replayed"],
      },
    ],
    faults: [
      ...WITH_BODY,
      "no-capacity",
      "quota-exceeded",
      "ledger-conflict",
      "key-released",
      "key-mismatch",
      "not-yet",
      "ttl-too-long",
      "priority-too-high",
      "queue-full",
    ],
  },
  {
    call: "DELETE /api/v1/reservations",
    operationId: "releaseByKey",
    tag: "Reservations",
    summary: "Release what a key has made, or will make",
    description:
      "For the requester. Also works before the reservation exists: a request with this key that arrives later is refused with 410.",
    parameters: ["key", "requester"],
    reply: ok("Released.", eitherBody),
    otherReplies: [
      { status: 204, description: "Nothing was made with this key, and nothing will be for a day." },
    ],
    faults: ["invalid", "quota-exceeded"],
  },
  {
    call: "POST /api/v1/reservations/{id}/activate",
    operationId: "activate",
    tag: "Reservations",
    summary: "Confirm that the resources are in use",
    description: "For the requester and admins.",
    parameters: ["reservationID"],
    reply: ok("Active.", reservationBody),
    faults: ["not-found", "already-ended"],
  },
  {
    call: "POST /api/v1/reservations/{id}/renew",
    operationId: "renew",
    tag: "Reservations",
    summary: "Extend a reservation",
    description: "For the requester and admins. Counts from now; never cuts a reservation short.",
    parameters: ["reservationID"],
    body: { schema: renewRequestSchema, example: { duration: "1h" } },
    reply: ok("Extended.", reservationBody),
    faults: [...WITH_BODY, "not-found", "already-ended", "ttl-too-long"],
  },
  {
    call: "DELETE /api/v1/reservations/{id}",
    operationId: "release",
    tag: "Reservations",
    summary: "Release a reservation",
    description:
      "For the requester and admins. A request that waits leaves the queue. Releasing what has ended is no error.",
    parameters: ["reservationID"],
    reply: ok("Released.", eitherBody),
    faults: ["not-found"],
  },
  {
    call: "GET /api/v1/queue",
    operationId: "listQueue",
    tag: "Reservations",
    summary: "The requests that wait, with their places",
    description:
      "For clusters their own, for admins all. By position in the queue: priority, then the tenant with the lowest share of the fleet, then who came first.",
    parameters: ["requesterID", "tenant", "q", "queueSort", "order", "offset", "limit"],
    reply: ok("One page.", { schema: queuePageSchema, example: { items: [examples.waiting], total: 1 } }),
    faults: ["invalid"],
  },
  {
    call: "GET /api/v1/queue/{id}/explanation",
    operationId: "explainWaiting",
    tag: "Decisions",
    summary: "Why a request still waits",
    description: "For the requester and admins. The decision that would be made now; nothing is recorded.",
    parameters: ["reservationID"],
    reply: ok("The decision.", { schema: decisionSchema, example: examples.decision }),
    faults: ["not-found"],
  },
  {
    call: "GET /api/v1/decisions/{id}",
    operationId: "explainDecision",
    tag: "Decisions",
    summary: "Why the broker decided so",
    description: "For the requester and admins.",
    parameters: ["decisionID"],
    reply: ok("The decision.", { schema: decisionSchema, example: examples.decision }),
    faults: ["not-found"],
  },
  {
    call: "POST /api/v1/quotes",
    operationId: "quote",
    tag: "Decisions",
    summary: "What would happen",
    description: "For any cluster. The same decision as for a reservation, but nothing is written or held.",
    parameters: ["requester", "weights"],
    body: { schema: reservationRequestSchema, example: examples.reservationRequest },
    reply: ok("What would happen.", { schema: quoteSchema, example: examples.quote }),
    faults: [...WITH_BODY, "quota-exceeded", "not-yet", "ttl-too-long", "priority-too-high"],
  },
  {
    call: "GET /api/v1/instructions",
    operationId: "listInstructions",
    tag: "Instructions",
    summary: "What your cluster has to hold",
    description:
      "For the provider. With watch=true a stream of server-sent events: `instruction` (you provide), `reservation` (you asked), `waiting` (WaitingRequestDTO: your request has left the queue without a reservation, or capacity is kept for it), `capacity` (CapacityEventDTO), `statement` (PeerStatementDTO) and `reset` (ResetEventDTO); the event id is the commit number.",
    parameters: ["watch", "lastEventID", "agentProtocol"],
    reply: {
      status: 200,
      description: "Live reservations that this cluster provides, or the stream of events.",
      body: { schema: reservationListSchema, example: [examples.instruction] },
      mediaType: "text/event-stream",
      textExample: examples.eventStream,
    },
  },
  {
    call: "POST /api/v1/instructions/{id}/ack",
    operationId: "acknowledge",
    tag: "Instructions",
    summary: "Say that you hold it, or cannot",
    description: "For the provider. A refusal fails the reservation.",
    parameters: ["reservationID"],
    body: { schema: acknowledgementSchema, example: { state: "held", generation: 1 } },
    reply: ok("Noted.", { schema: reservationSchema, example: examples.instruction }),
    faults: [...WITH_BODY, "not-found", "already-ended"],
  },
  {
    call: "POST /api/v1/adoptions",
    operationId: "adopt",
    tag: "Reservations",
    summary: "Offer holds to a broker that lost its memory",
    description:
      "For both parties. A hold is adopted when requester and provider report the same parties and amounts, or an admin decides. Only holds made before the ledger's memory began, and only while adoption is open (see getAdoptionWindow). Quota, lending rules and the longest time allowed hold as for a grant; beyond what the provider has left only what it reports as held.",
    body: { schema: adoptionRequestSchema, example: examples.adoptionRequest },
    reply: ok("One answer for each offer.", { schema: adoptionReplySchema, example: examples.adoptionReply }),
    faults: [...WITH_BODY],
  },
];
