import { MAX_QUEUE } from "../wire/waiting.ts";
import { type AdmissionCase, byRule, goodObject, locks, refusals } from "./admission-case.ts";
import { changed, GOOD_OBJECTS, type JsonValue } from "./good-objects.ts";
import { QUANTITY_CASES } from "./quantity-cases.ts";
import { QUEUE_TIMEOUT_CASES } from "./queue-timeout-cases.ts";
import { adoption, RESERVATION_CASES } from "./reservation-cases.ts";

const CLUSTER_ID = "must be a cluster ID";
const DURATION = "must be a duration of more than 0";
const LABELS = "every name must be a label name";
const SCORER = "every name must be a scorer's name";
const CLUSTER_NAMES = "every name must be a cluster ID";
const CURRENCY_NAMES = "every name must be a currency code";
const EXTENDED_NAMES = "every name must be an extended resource name with its domain";

const ACCEPTED: readonly AdmissionCase[] = [
  ...Object.entries(GOOD_OBJECTS).map(([kind, object]) => ({
    name: `a good ${kind} is accepted`,
    kind,
    object,
  })),
  ...Object.entries(GOOD_OBJECTS).map(([kind, object]) => ({
    name: `a good ${kind} may be written again`,
    kind,
    object,
    old: object,
  })),
  {
    name: "whole numbers need no quotes",
    kind: "ResourceRequest",
    object: changed(
      changed(goodObject("ResourceRequest"), "spec.requestedCPU", 2),
      "spec.requestedMemory",
      1073741824,
    ),
  },
  {
    name: "a request that is still pending may be edited",
    kind: "ResourceRequest",
    object: changed(goodObject("ResourceRequest"), "spec.requestedCPU", "1"),
    old: goodObject("ResourceRequest"),
  },
  {
    name: "a reserved request keeps its spec while its status moves on",
    kind: "ResourceRequest",
    object: changed(goodObject("ResourceRequest"), "status.phase", "Active"),
    old: changed(goodObject("ResourceRequest"), "status.phase", "Reserved"),
  },
  {
    name: "the broker may fill in the target of a reservation once",
    kind: "Reservation",
    object: goodObject("Reservation"),
    old: changed(goodObject("Reservation"), "spec.targetClusterID", undefined),
  },
  {
    name: "a person's reservation needs neither a key nor an intent nor a requester",
    kind: "Reservation",
    object: { ...goodObject("Reservation"), spec: { requestedResources: { cpu: "500m", memory: "512Mi" } } },
  },
  {
    name: "a key can be released without saying what was asked for",
    kind: "Reservation",
    object: {
      ...goodObject("Reservation"),
      spec: { requesterID: "rome", intent: "Release", key: "5f1c8a3e-2" },
    },
  },
  {
    name: "a reservation may wait for as long as the policy allows",
    kind: "Reservation",
    object: changed(goodObject("Reservation"), "spec.wait", {}),
  },
  {
    name: "a place may be the last of the longest queue",
    kind: "Reservation",
    object: changed(goodObject("Reservation"), "status.queue.position", MAX_QUEUE),
  },
  {
    name: "a time to wait may have 64 characters",
    kind: "Reservation",
    object: changed(goodObject("Reservation"), "spec.wait.for", `${"0".repeat(62)}4h`),
  },
  {
    name: "a namespace may have 63 characters",
    kind: "Reservation",
    object: changed(goodObject("Reservation"), "spec.namespace", "n".repeat(63)),
  },
  { name: "a forgotten hold can be offered", kind: "Reservation", object: adoption() },
  {
    name: "an agent may leave reserved and available to the broker",
    kind: "ClusterAdvertisement",
    object: changed(
      changed(goodObject("ClusterAdvertisement"), "spec.resources.reserved", undefined),
      "spec.resources.available",
      undefined,
    ),
  },
  {
    name: "an advertisement may say that less than nothing is left",
    kind: "ClusterAdvertisement",
    object: changed(goodObject("ClusterAdvertisement"), "spec.resources.available.cpu", "-2"),
  },
];

/** Refused by the schema itself; the words are Kubernetes' own. */
const REFUSED_BY_SCHEMA: readonly AdmissionCase[] = [
  bySchema("a request without memory is refused", "ResourceRequest", ["spec.requestedMemory", undefined]),
  bySchema("a reservation without memory is refused", "Reservation", [
    "spec.requestedResources.memory",
    undefined,
  ]),
  bySchema("an unknown intent is refused", "Reservation", ["spec.intent", "Steal"]),
  bySchema("an agent's own advertisement says what is available", "Advertisement", [
    "spec.resources.available",
    undefined,
  ]),
  bySchema("an unknown tier is refused", "ResourceRequest", ["spec.tier", "cheap"]),
  ...["ResourceRequest", "Reservation"].flatMap((kind) => [
    bySchema(`an unknown reason to wait is refused in a ${kind}`, kind, ["status.queue.reason", "Lazy"]),
    bySchema(`a place before the first is refused in a ${kind}`, kind, ["status.queue.position", 0]),
    bySchema(`a place beyond the longest queue is refused in a ${kind}`, kind, [
      "status.queue.position",
      MAX_QUEUE + 1,
    ]),
  ]),
  bySchema("a time to wait of 65 characters is refused", "Reservation", [
    "spec.wait.for",
    `${"0".repeat(63)}4h`,
  ]),
  bySchema("a namespace of 64 characters is refused", "Reservation", ["spec.namespace", "n".repeat(64)]),
  bySchema("a reservation to take over that has no reservation's name is refused", "Reservation", [
    "spec.resumes",
    "../etc",
  ]),
  bySchema("a rate of zero is refused", "BrokerPolicy", ["spec.prices.rates.USD", 0]),
  bySchema("a part of 101 percent is refused", "BrokerPolicy", ["spec.preemption.maxUnderNotice", "101%"]),
  bySchema("a negative weight is refused", "BrokerPolicy", ["spec.weights.cost", -0.1]),
  bySchema("a price that is not a number is refused", "Advertisement", ["spec.cost.cpuCost", "cheap"]),
];

const REFUSED_BY_RULE: readonly AdmissionCase[] = [
  ...["Advertisement", "ClusterAdvertisement"].flatMap((kind) => {
    const refuses = refusals(kind);
    return [
      refuses("spec.clusterID", "Paris!", CLUSTER_ID),
      refuses("spec.liqo.clusterID", "../x", CLUSTER_ID),
      refuses("spec.labels", { "-x": "y" }, LABELS),
      refuses("spec.cost.extendedCost", { gpu: "1" }, EXTENDED_NAMES),
      refuses("spec.cost.spot.extendedCost", { gpu: "1" }, EXTENDED_NAMES),
      locks(kind)("spec.clusterID", "berlin"),
    ];
  }),
  ...["ResourceRequest", "Reservation"].flatMap((kind) => {
    const refuses = refusals(kind);
    return [
      ...["5 minutes", "0s", "-1h"].map((text) => refuses("spec.duration", text, DURATION)),
      refuses("spec.targetClusterID", "--flag", CLUSTER_ID),
      refuses("spec.constraints.labels", { "a b": "c" }, LABELS),
    ];
  }),
  ...resourceRequestRows(),
  ...instructionRows(),
  ...RESERVATION_CASES,
  ...policyRows(),
];

/** What an API server with our CRDs accepts and refuses. Every CEL rule has at least one row that only it refuses. */
export const ADMISSION_CASES: readonly AdmissionCase[] = [
  ...ACCEPTED,
  ...REFUSED_BY_SCHEMA,
  ...QUANTITY_CASES,
  ...QUEUE_TIMEOUT_CASES,
  ...REFUSED_BY_RULE,
];

function resourceRequestRows(): AdmissionCase[] {
  const kind = "ResourceRequest";
  const refuses = refusals(kind);
  const old = changed(goodObject(kind), "status.phase", "Reserved");
  const ended = ["Failed", "Released"].map((phase) => {
    const before = changed(goodObject(kind), "status.phase", phase);
    return {
      name: `a request that is ${phase} refuses another spec`,
      kind,
      old: before,
      object: changed(before, "spec.requestedCPU", "8"),
      ...byRule("spec", "this request has ended, and nothing is asked for it again"),
    };
  });
  return [
    ...ended,
    refuses("spec.offload.podSelector", { "a b": "c" }, LABELS),
    refuses("status.targetClusterID", "Paris", CLUSTER_ID),
    refuses("status.queue.nominatedTo", "Paris", CLUSTER_ID),
    ...["a while", "0s"].map((text) => refuses("spec.queueTimeout", text, DURATION)),
    {
      name: "a reserved request refuses another spec",
      kind,
      old,
      object: changed(old, "spec.requestedCPU", "8"),
      ...byRule("spec", "resources are already reserved for this request"),
    },
  ];
}

function instructionRows(): AdmissionCase[] {
  const [requesters, providers] = ["ReservationInstruction", "ProviderInstruction"] as const;
  return [
    refusals(requesters)("spec.targetClusterID", "a..b/", CLUSTER_ID),
    refusals(requesters)("spec.targetLiqoID", "A", CLUSTER_ID),
    refusals(providers)("spec.requesterClusterID", "", CLUSTER_ID),
    refusals(providers)("spec.requesterLiqoID", "A", CLUSTER_ID),
    locks(requesters)("spec.targetClusterID", "berlin"),
    locks(providers)("spec.requesterClusterID", "oslo"),
    ...[requesters, providers]
      .map(locks)
      .flatMap((keeps) => [
        keeps("spec.reservationName", "rsv-rome-other"),
        keeps("spec.sliceDefaults", { pods: 60, ephemeralStorage: "5Gi" }),
        keeps("spec.sliceDefaults", undefined),
      ]),
  ];
}

function policyRows(): AdmissionCase[] {
  const refuses = (field: string, value: JsonValue, message: string): AdmissionCase =>
    refusals("BrokerPolicy")(`spec.${field}`, value, message);
  const price = { cpuCost: "1", memoryCost: "1", currency: "EUR" };
  return [
    ...["staleness", "defaultTTL", "maxTTL", "activationTimeout", "requesterLostAfter"].map((field) =>
      refuses(field, "0s", DURATION),
    ),
    ...["queue.maxWait", "queue.holdAfter", "preemption.grace"].map((field) =>
      refuses(field, "0s", DURATION),
    ),
    ...["refusalMemory", "queue.turnaround", "queue.backfill", "preemption.minRun"].map((field) =>
      refuses(field, "soon", "must be a duration"),
    ),
    refuses("tenants", { "a b": { members: [{ cluster: "rome" }] } }, "every name must be a tenant's name"),
    refuses("defaultTTL", "200h", "must not be longer than maxTTL"),
    refuses("weights", { resources: 0, cost: 0 }, "at least one weight must be more than 0"),
    refuses("weights", { "a b": 1 }, SCORER),
    refuses("ratings", { "a b": { paris: 1 } }, SCORER),
    refuses("prices.rates", { dollar: 1 }, CURRENCY_NAMES),
    refuses("prices.clusters", { "a b": price }, CLUSTER_NAMES),
    refuses("lending.clusters", { "a b": { allow: ["rome"] } }, CLUSTER_NAMES),
    refuses("quotas", { "a b": { cpu: "1" } }, CLUSTER_NAMES),
    ...["cpu", "memory", "storage"].map((name) =>
      refuses(`defaultQuota.${name}`, "-1", "must be a quantity that is not negative"),
    ),
    refuses("defaultQuota.gpu", "1.5", "must be a whole number that is not negative"),
    refuses("defaultQuota.extended", { "amd gpu": "1" }, EXTENDED_NAMES),
  ];
}

function bySchema(
  name: string,
  kind: string,
  [path, value]: readonly [string, string | number | undefined],
): AdmissionCase {
  return {
    name,
    kind,
    object: changed(goodObject(kind), path, value),
    refusal: { field: path, message: "", isRule: false },
  };
}
