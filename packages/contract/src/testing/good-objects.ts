/** A JSON object, as an API server takes it. */
export type JsonObject = { readonly [name: string]: JsonValue };
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

const amounts = { cpu: "8", memory: "32Gi", gpu: "1", storage: "100Gi", extended: { "amd.com/gpu": "2" } };
const resources = {
  capacity: amounts,
  allocatable: amounts,
  allocated: amounts,
  used: amounts,
  reserved: amounts,
  available: amounts,
};
const advertised = {
  timestamp: "2026-07-01T10:00:00Z",
  cost: {
    cpuCost: "0.042",
    memoryCost: "0.005",
    extendedCost: { "amd.com/gpu": "1.10" },
    currency: "EUR",
    spot: { cpuCost: "0.01", extendedCost: { "amd.com/gpu": "0.50" } },
    windows: [{ name: "night", from: "22:00", to: "06:00", multiplier: 0.5 }],
  },
  endpointURL: "https://10.0.0.7:6443",
  labels: { "topology.kubernetes.io/region": "eu-west" },
  nodeShapes: [{ count: 3, cpu: "8", memory: "32Gi" }],
  gpus: [{ model: "NVIDIA-A100-SXM4-40GB", count: 4, memory: "40Gi" }],
  liqo: { clusterID: "calm-paris", version: "v1.2.0" },
};
const requestOptions = {
  priority: 10,
  duration: "1h30m",
  targetClusterID: "paris",
  constraints: { regions: ["eu-west"], labels: { tier: "gold" }, excludeClusters: ["tokyo"] },
  perNode: { cpu: "4", memory: "8Gi", gpu: "1", storage: "10Gi", extended: { "amd.com/gpu": "1" } },
  tier: "spot",
};
const requested = {
  requestedCPU: "500m",
  requestedMemory: "512Mi",
  requestedGPU: "1",
  requestedStorage: "10Gi",
  extended: { "amd.com/gpu": "1" },
};
const condition = {
  type: "Ready",
  status: "True",
  observedGeneration: 1,
  lastTransitionTime: "2026-07-01T10:00:00Z",
  reason: "Granted",
  message: "paris lends 500m CPU / 512Mi Memory",
};
const queued = {
  position: 2,
  of: 7,
  reason: "Nomination",
  expectedStart: "2026-07-01T14:05:00Z",
  nominatedTo: "paris",
  place: "2/7",
};
const reservationName = "rsv-rome-k3u7dq2hvmx5b4ta";

const rear = "rear.fluidos.eu/v1alpha1";
const broker = "broker.fluidos.eu/v1alpha1";

/** One object of each kind that the API server must accept, with every field that a rule looks at. */
export const GOOD_OBJECTS: Readonly<Record<string, JsonObject>> = {
  Advertisement: {
    apiVersion: rear,
    kind: "Advertisement",
    metadata: { name: "cluster-advertisement", namespace: "default" },
    spec: { clusterID: "paris", resources, ...advertised },
    status: { phase: "Active", published: true, conditions: [condition] },
  },
  ResourceRequest: {
    apiVersion: rear,
    kind: "ResourceRequest",
    metadata: { name: "more", namespace: "default" },
    spec: {
      ...requested,
      ...requestOptions,
      queue: true,
      queueTimeout: "4h",
      offload: {
        namespaces: ["shop"],
        podOffloadingStrategy: "LocalAndRemote",
        podSelector: { app: "shop" },
      },
    },
    status: {
      phase: "Pending",
      targetClusterID: "paris",
      reservationName,
      attempts: 1,
      tenant: "ml",
      queue: queued,
      conditions: [condition],
    },
  },
  ReservationInstruction: {
    apiVersion: rear,
    kind: "ReservationInstruction",
    metadata: { name: reservationName, namespace: "default" },
    spec: {
      reservationName,
      targetClusterID: "paris",
      ...requested,
      targetLiqoID: "calm-paris",
      sliceDefaults: { pods: 50, ephemeralStorage: "5Gi" },
      generation: 1,
    },
    status: { delivered: true, conditions: [condition] },
  },
  ProviderInstruction: {
    apiVersion: rear,
    kind: "ProviderInstruction",
    metadata: { name: `${reservationName}-provider`, namespace: "default" },
    spec: {
      reservationName,
      requesterClusterID: "rome",
      ...requested,
      requesterLiqoID: "cool-rome",
      sliceDefaults: { pods: 50, ephemeralStorage: "5Gi" },
      generation: 1,
    },
    status: { enforced: true, conditions: [condition] },
  },
  ClusterAdvertisement: {
    apiVersion: broker,
    kind: "ClusterAdvertisement",
    metadata: { name: "paris-adv", namespace: "default" },
    spec: {
      clusterID: "paris",
      clusterName: "Paris",
      resources,
      ...advertised,
      usage: [{ reservationID: reservationName, granted: amounts, used: { cpu: "0", memory: "0" } }],
      instance: "7c0f3a52",
      sequence: 42,
    },
    status: {
      phase: "Active",
      active: true,
      score: "62.50",
      holds: [
        { id: reservationName, requesterID: "rome", granted: amounts, expiresAt: "2026-07-01T11:30:00Z" },
      ],
      conditions: [condition],
    },
  },
  Reservation: {
    apiVersion: broker,
    kind: "Reservation",
    metadata: { name: reservationName, namespace: "default" },
    spec: {
      requesterID: "rome",
      requestedResources: amounts,
      ...requestOptions,
      intent: "Reserve",
      key: "5f1c8a3e-2",
      wait: { for: "4h" },
      resumes: "rsv-rome-before",
      namespace: "ml-training",
    },
    status: {
      phase: "Reserved",
      requesterLiqoID: "cool-rome",
      targetLiqoID: "calm-paris",
      sliceDefaults: { pods: 50, ephemeralStorage: "5Gi" },
      cost: { perHour: "0.336", currency: "EUR" },
      until: "2026-07-02T10:00:00Z",
      tenant: "ml",
      queue: { ...queued, share: 0.125 },
      conditions: [condition],
    },
  },
  BrokerPolicy: {
    apiVersion: broker,
    kind: "BrokerPolicy",
    metadata: { name: "default", namespace: "default" },
    spec: {
      weights: { resources: 0.7, cost: 0.3 },
      ratings: { latency: { paris: 0.9 } },
      staleness: "2m",
      defaultTTL: "8h",
      maxTTL: "168h",
      activationTimeout: "10m",
      requesterLostAfter: "24h",
      refusalMemory: "10m",
      prices: { currency: "EUR", rates: { USD: 0.92 }, clusters: { paris: advertised.cost } },
      lending: { default: { deny: ["tokyo"] }, clusters: { paris: { allow: ["rome"] } } },
      quotas: { rome: { cpu: "64", memory: "256Gi", reservations: 2000 } },
      defaultQuota: { reservations: 500 },
      queue: {
        max: 1000,
        perTenant: 50,
        maxWait: "12h",
        turnaround: "5m",
        holdAfter: "10m",
        backfill: "15m",
      },
      tenants: {
        ml: {
          members: [{ cluster: "rome", namespaces: ["ml-*"] }],
          weight: 3,
          quota: { gpu: "8" },
          maxPriority: 100,
        },
        default: { quota: { reservations: 20 }, maxPriority: 10 },
      },
      preemption: { victims: "spot", minPriorityGap: 10, grace: "5m", minRun: "10m", maxUnderNotice: "5%" },
      disclosure: "full",
      sliceDefaults: { pods: 110, ephemeralStorage: "20Gi" },
    },
    status: { inForce: true, version: "2026-07", conditions: [condition] },
  },
};

/** The object with one field changed; `undefined` takes the field away. */
export function changed(object: JsonObject, path: string, value: JsonValue | undefined): JsonObject {
  const [name = "", ...rest] = path.split(".");
  if (rest.length > 0) return { ...object, [name]: changed(childOf(object, name), rest.join("."), value) };
  const others = Object.entries(object).filter(([field]) => field !== name);
  return Object.fromEntries(value === undefined ? others : [...others, [name, value]]);
}

function childOf(object: JsonObject, name: string): JsonObject {
  const child = object[name];
  return isObject(child) ? child : {};
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
