import { PHASES } from "@resource-broker/domain";
import { clusterId, dnsLabel, reservationName } from "../../src/schema/terms.ts";
import {
  CLUSTER_SORTS,
  CLUSTER_STATES,
  COUNTED_RESOURCES,
  HISTORY_WINDOWS,
  OUTCOMES,
  PHASE_GROUPS,
  QUEUE_SORTS,
  REFUSED_SORTS,
  RESERVATION_SORTS,
} from "../../src/wire/list-options.ts";
import { HEADER, LIMIT, PROTOCOL_VERSION } from "../../src/wire/protocol.ts";

const cluster = { type: "string", pattern: clusterId().pattern, maxLength: 63 };
const reservation = { type: "string", pattern: reservationName().pattern, maxLength: 253 };
const name = { type: "string", pattern: dnsLabel().pattern, maxLength: 63 };

const inPath = (parameter: string, schema: object, text: { description: string; example: string }) => ({
  name: parameter,
  in: "path",
  required: true,
  schema,
  ...text,
});

const optional = (where: "query" | "header") => (parameter: string, schema: object, description: string) => ({
  name: parameter,
  in: where,
  required: false,
  description,
  schema,
});
const inQuery = optional("query");
const inHeader = optional("header");

const choiceInQuery = (parameter: string, choices: readonly string[], description: string) =>
  inQuery(parameter, { type: "string", enum: choices }, description);

/** Everything a caller can say beside the body. */
export const PARAMETERS = {
  clusterID: inPath("clusterID", cluster, { description: "A cluster's ID.", example: "rome" }),
  reservationID: inPath("id", reservation, {
    description: "A reservation's name.",
    example: "rsv-rome-k3u7dq2hvmx5b4ta",
  }),
  decisionID: inPath("id", name, { description: "A decision's name.", example: "dec-4f0q2" }),
  role: choiceInQuery("role", ["requester", "provider"], "Only reservations where you are this."),
  limit: inQuery(
    "limit",
    { type: "integer", minimum: 1, maximum: LIMIT.pageMax, default: LIMIT.pageDefault },
    "The most items in one reply.",
  ),
  after: inQuery(
    "after",
    { type: "string", maxLength: 256 },
    "Continue after this one; from `next` or the Link header.",
  ),
  offset: inQuery(
    "offset",
    { type: "integer", minimum: 0, maximum: 10_000_000, default: 0 },
    "Leave out this many of the first items.",
  ),
  order: choiceInQuery("order", ["asc", "desc"], "Rising or falling."),
  q: inQuery(
    "q",
    { type: "string", maxLength: LIMIT.searchLength },
    "Only what contains this text: IDs, names and labels; in the audit log any field.",
  ),
  clusterSort: inQuery("sort", { type: "string", enum: CLUSTER_SORTS, default: "id" }, "Sort by this."),
  clusterState: choiceInQuery("state", CLUSTER_STATES, "Only clusters in this state."),
  reservationSort: choiceInQuery("sort", RESERVATION_SORTS, "Sort by this; created sorts the newest first."),
  queueSort: inQuery("sort", { type: "string", enum: QUEUE_SORTS, default: "position" }, "Sort by this."),
  refusedSort: inQuery(
    "sort",
    { type: "string", enum: REFUSED_SORTS, default: "last" },
    "Sort by this; last sorts the last refused first.",
  ),
  tenant: inQuery("tenant", { type: "string", maxLength: LIMIT.searchLength }, "Only those of this tenant."),
  phase: choiceInQuery(
    "phase",
    [...PHASE_GROUPS, ...PHASES],
    "Only reservations in this phase; may be repeated. live: Reserved and Active. preempting: those of them that are under notice.",
  ),
  requesterID: inQuery("requester", cluster, "Only those of this requester."),
  provider: inQuery("provider", cluster, "Only those of this provider."),
  party: inQuery("cluster", cluster, "Only those of this cluster, as requester or as provider."),
  cluster: inQuery("cluster", cluster, "Of this cluster; absent: of the fleet."),
  outcome: choiceInQuery("outcome", OUTCOMES, "Only those with this outcome."),
  resource: inQuery(
    "resource",
    { type: "string", enum: COUNTED_RESOURCES, default: "cpu" },
    "The largest amounts of this resource come first.",
  ),
  window: inQuery(
    "window",
    { type: "string", enum: HISTORY_WINDOWS, default: "hour" },
    "How far back: an hour in steps of 10 s, a day in steps of 5 minutes, a week in steps of an hour.",
  ),
  weights: inQuery(
    "weights",
    { type: "string", maxLength: LIMIT.searchLength },
    "For admins: other weights than the policy's, as in `resources:0.7,cost:0.3`.",
  ),
  watch: inQuery("watch", { type: "boolean" }, "true: stay and send server-sent events instead of a list."),
  key: {
    ...inQuery(
      "key",
      { type: "string", minLength: 1, maxLength: LIMIT.idempotencyKeyLength },
      "The Idempotency-Key the reservation was made with, or is about to be.",
    ),
    required: true,
  },
  requester: inQuery(
    "requester",
    cluster,
    "The cluster that asks. An admin must name one that has advertised; anyone else only itself.",
  ),
  idempotencyKey: {
    ...inHeader(
      HEADER.idempotencyKey,
      { type: "string", minLength: 1, maxLength: LIMIT.idempotencyKeyLength },
      "Makes retries safe: the same key books once. A retry must ask for the same amounts, priority, duration, target, constraints, perNode, tier and start, or it is refused with key-mismatch; wait, resumes and namespace are not compared, and those of the first request stay. Requests without a key are never recognised as retries.",
    ),
    example: "5f1c8a3e-2",
  },
  lastEventID: inHeader(
    "Last-Event-ID",
    { type: "string", maxLength: 20 },
    "The last event seen. Too old or unknown: the stream begins with a reset.",
  ),
  agentIdentity: inHeader(
    HEADER.agentIdentity,
    { type: "string", maxLength: 130 },
    "<identity key>.<signature>: the key vouches for that of the client certificate. Needed on every call once the key is bound; the first right one binds it.",
  ),
  agentProtocol: inHeader(
    HEADER.agentProtocol,
    { type: "integer", minimum: 1, maximum: 9999, default: 1, examples: [PROTOCOL_VERSION] },
    "What the caller speaks. 2: every call. 3: requests that wait as well. Absent: the older forms.",
  ),
} as const;

const text = (description: string, example: string) => ({ description, schema: { type: "string" }, example });

/** What a reply can say beside its body. */
export const RESPONSE_HEADERS = {
  [HEADER.ledgerId]: text(
    "The ledger that answered. A changed one means that the broker lost its memory.",
    "led-8c1f",
  ),
  [HEADER.brokerProtocol]: text("The protocol the broker speaks.", String(PROTOCOL_VERSION)),
  [HEADER.idempotencyReplayed]: text("true: this is the reservation that the key already made.", "true"),
  [HEADER.link]: text(
    'rel="next": the address of the next page.',
    '</api/v1/reservations?after=rsv-rome-b>; rel="next"',
  ),
  [HEADER.totalCount]: text("Of a list with sort, q, phase or offset: how many match, on all pages.", "42"),
  [HEADER.retryAfter]: text("Seconds to wait before asking again.", "2"),
} as const;
