import { demandSchema, refusedPageSchema } from "../../src/wire/demand.ts";
import {
  capacityHistorySchema,
  decisionPageSchema,
  demandHistorySchema,
  flowsSchema,
  spendingSchema,
  timelineSchema,
} from "../../src/wire/insight.ts";
import { PATH } from "../../src/wire/protocol.ts";
import * as examples from "./examples.ts";
import { ok, type Route } from "./route.ts";

/** What is seen of the fleet as a whole; the dashboard reads the same. */
export const INSIGHT_ROUTES: readonly Route[] = [
  {
    call: "GET /api/v1/reservations/{id}/timeline",
    operationId: "getTimeline",
    tag: "Insight",
    summary: "Read how one reservation went",
    description: "For admins: its steps, the state of both parties, its cost so far, and its object as YAML.",
    parameters: ["reservationID"],
    reply: ok("The reservation and its steps.", { schema: timelineSchema, example: examples.timeline }),
    faults: ["not-found"],
  },
  {
    call: `GET ${PATH.decisions}`,
    operationId: "listDecisions",
    tag: "Insight",
    summary: "List the newest decisions",
    description: "For admins: those since the broker started, and some before, at most 1,000.",
    parameters: ["outcome", "requesterID", "offset", "limit"],
    reply: ok("One page, the newest first.", { schema: decisionPageSchema, example: examples.decisionPage }),
    faults: ["invalid"],
  },
  {
    call: `GET ${PATH.refusedRequests}`,
    operationId: "listRefusedRequests",
    tag: "Insight",
    summary: "List refused requests",
    description:
      "For admins: requests that were refused since the broker started and were not granted since; they do not wait in the queue. Retries of one request are one entry. Requests above a quota are not listed.",
    parameters: ["requesterID", "tenant", "q", "refusedSort", "order", "offset", "limit"],
    reply: ok("One page.", {
      schema: refusedPageSchema,
      example: { items: [examples.refusedRequest], total: 1 },
    }),
    faults: ["invalid"],
  },
  {
    call: `GET ${PATH.demand}`,
    operationId: "getDemand",
    tag: "Insight",
    summary: "What is asked for and not granted",
    description: "For admins, by tenant: the requests that wait, and those that are refused.",
    reply: ok("The requests and their amounts.", { schema: demandSchema, example: examples.demand }),
  },
  {
    call: `GET ${PATH.flows}`,
    operationId: "listFlows",
    tag: "Insight",
    summary: "Who lends to whom now",
    description: "For admins: the live reservations between each two clusters, added up.",
    parameters: ["resource"],
    reply: ok("The flows.", { schema: flowsSchema, example: examples.flows }),
    faults: ["invalid"],
  },
  {
    call: `GET ${PATH.capacityHistory}`,
    operationId: "getCapacityHistory",
    tag: "Insight",
    summary: "Capacity over time",
    description: "For admins, of the fleet or of one cluster. Recorded while --dashboard-bind-address is on.",
    parameters: ["window", "cluster"],
    reply: ok("The series.", { schema: capacityHistorySchema, example: examples.capacityHistory }),
    faults: ["invalid", "not-found"],
  },
  {
    call: `GET ${PATH.demandHistory}`,
    operationId: "getDemandHistory",
    tag: "Insight",
    summary: "Granted and refused requests over time",
    description:
      "For admins, each request once, however often it was repeated. Recorded while --dashboard-bind-address is on.",
    parameters: ["window"],
    reply: ok("The series.", { schema: demandHistorySchema, example: examples.demandHistory }),
    faults: ["invalid", "not-found"],
  },
  {
    call: `GET ${PATH.spending}`,
    operationId: "getSpending",
    tag: "Insight",
    summary: "What was spent and saved",
    description: "For admins, by requester and by provider.",
    parameters: ["window"],
    reply: ok("The amounts.", { schema: spendingSchema, example: examples.spending }),
    faults: ["invalid"],
  },
  {
    call: `GET ${PATH.events}`,
    operationId: "watchEvents",
    tag: "Insight",
    summary: "Watch everything",
    description:
      "For admins: a stream of server-sent events. `hello` comes first, with the commit and the ledger's ID; then `changes` (ChangesEventDTO), gathered for 200 ms; `reset`: what was missed is no longer known, list again. A comment every 4 s says that the connection lives.",
    parameters: ["lastEventID"],
    reply: {
      status: 200,
      description: "The stream.",
      mediaType: "text/event-stream",
      textExample: examples.adminStream,
    },
  },
];
