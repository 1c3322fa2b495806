import { type AdmissionCase, goodObject, refusesChange, refusesValue } from "./admission-case.ts";
import { changed, GOOD_OBJECTS } from "./good-objects.ts";
import { QUANTITY_CASES } from "./quantity-cases.ts";
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
  bySchema("a rate of zero is refused", "BrokerPolicy", ["spec.prices.rates.USD", 0]),
  bySchema("a negative weight is refused", "BrokerPolicy", ["spec.weights.cost", -0.1]),
  bySchema("a price that is not a number is refused", "Advertisement", ["spec.cost.cpuCost", "cheap"]),
];

const REFUSED_BY_RULE: readonly AdmissionCase[] = [
  ...["Advertisement", "ClusterAdvertisement"].flatMap((kind) => [
    refusesValue({ kind, path: "spec.clusterID" }, "Paris!", CLUSTER_ID),
    refusesValue({ kind, path: "spec.liqo.clusterID" }, "../x", CLUSTER_ID),
    refusesValue({ kind, path: "spec.labels" }, { "-x": "y" }, LABELS),
    refusesValue({ kind, path: "spec.cost.extendedCost" }, { gpu: "1" }, EXTENDED_NAMES),
    refusesValue({ kind, path: "spec.cost.spot.extendedCost" }, { gpu: "1" }, EXTENDED_NAMES),
    refusesChange({ kind, path: "spec.clusterID" }, "berlin", "clusterID cannot be changed"),
  ]),
  ...["ResourceRequest", "Reservation"].flatMap((kind) => [
    refusesValue({ kind, path: "spec.duration" }, "5 minutes", DURATION),
    refusesValue({ kind, path: "spec.duration" }, "0s", DURATION),
    refusesValue({ kind, path: "spec.duration" }, "-1h", DURATION),
    refusesValue({ kind, path: "spec.targetClusterID" }, "--flag", CLUSTER_ID),
    refusesValue({ kind, path: "spec.constraints.labels" }, { "a b": "c" }, LABELS),
  ]),
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
  ...REFUSED_BY_RULE,
];

function resourceRequestRows(): AdmissionCase[] {
  const kind = "ResourceRequest";
  const old = changed(goodObject(kind), "status.phase", "Reserved");
  return [
    refusesValue({ kind, path: "spec.offload.podSelector" }, { "a b": "c" }, LABELS),
    refusesValue({ kind, path: "status.targetClusterID" }, "Paris", CLUSTER_ID),
    {
      name: "a reserved request refuses another spec",
      kind,
      old,
      object: changed(old, "spec.requestedCPU", "8"),
      refusal: { field: "spec", message: "resources are already reserved for this request", isRule: true },
    },
  ];
}

function instructionRows(): AdmissionCase[] {
  const [requesters, providers] = ["ReservationInstruction", "ProviderInstruction"] as const;
  const other = "rsv-rome-other";
  return [
    refusesValue({ kind: requesters, path: "spec.targetClusterID" }, "a..b/", CLUSTER_ID),
    refusesValue({ kind: requesters, path: "spec.targetLiqoID" }, "A", CLUSTER_ID),
    refusesValue({ kind: providers, path: "spec.requesterClusterID" }, "", CLUSTER_ID),
    refusesValue({ kind: providers, path: "spec.requesterLiqoID" }, "A", CLUSTER_ID),
    refusesChange(
      { kind: requesters, path: "spec.reservationName" },
      other,
      "reservationName cannot be changed",
    ),
    refusesChange(
      { kind: providers, path: "spec.reservationName" },
      other,
      "reservationName cannot be changed",
    ),
    refusesChange(
      { kind: requesters, path: "spec.targetClusterID" },
      "berlin",
      "targetClusterID cannot be changed",
    ),
    refusesChange(
      { kind: providers, path: "spec.requesterClusterID" },
      "oslo",
      "requesterClusterID cannot be changed",
    ),
    ...[requesters, providers].flatMap((kind) =>
      [{ pods: 60, ephemeralStorage: "5Gi" }, undefined].map((value) =>
        refusesChange({ kind, path: "spec.sliceDefaults" }, value, "sliceDefaults cannot be changed"),
      ),
    ),
  ];
}

function policyRows(): AdmissionCase[] {
  const at = (field: string) => ({ kind: "BrokerPolicy", path: `spec.${field}` });
  return [
    ...["staleness", "defaultTTL", "maxTTL", "activationTimeout", "requesterLostAfter"].map((field) =>
      refusesValue(at(field), "0s", DURATION),
    ),
    refusesValue(at("refusalMemory"), "soon", "must be a duration"),
    refusesValue(at("defaultTTL"), "200h", "must not be longer than maxTTL"),
    refusesValue(at("weights"), { resources: 0, cost: 0 }, "at least one weight must be more than 0"),
    refusesValue(at("weights"), { "a b": 1 }, SCORER),
    refusesValue(at("ratings"), { "a b": { paris: 1 } }, SCORER),
    refusesValue(at("prices.rates"), { dollar: 1 }, CURRENCY_NAMES),
    refusesValue(
      at("prices.clusters"),
      { "a b": { cpuCost: "1", memoryCost: "1", currency: "EUR" } },
      CLUSTER_NAMES,
    ),
    refusesValue(at("lending.clusters"), { "a b": { allow: ["rome"] } }, CLUSTER_NAMES),
    refusesValue(at("quotas"), { "a b": { cpu: "1" } }, CLUSTER_NAMES),
    ...["cpu", "memory", "storage"].map((name) =>
      refusesValue(at(`defaultQuota.${name}`), "-1", "must be a quantity that is not negative"),
    ),
    refusesValue(at("defaultQuota.gpu"), "1.5", "must be a whole number that is not negative"),
    refusesValue(at("defaultQuota.extended"), { "amd gpu": "1" }, EXTENDED_NAMES),
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
