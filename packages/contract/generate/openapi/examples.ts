/** Bodies that the document shows; a test validates each of them against its schema. */
const amounts = (cpu: string, memory: string) => ({ cpu, memory });

export const advertisement = {
  clusterID: "paris",
  clusterName: "Paris data centre",
  resources: {
    capacity: amounts("64", "256Gi"),
    allocatable: amounts("62", "248Gi"),
    allocated: amounts("20", "96Gi"),
    reserved: amounts("4", "8Gi"),
    available: amounts("38", "144Gi"),
  },
  timestamp: "2026-07-01T10:00:00Z",
  cost: { cpuCost: "0.042", memoryCost: "0.005", currency: "EUR" },
  labels: { "topology.kubernetes.io/region": "eu-west" },
};

export const reservationRequest = {
  requestedResources: { cpu: "4", memory: "8Gi" },
  priority: 10,
  duration: "1h30m",
  constraints: { regions: ["eu-west"] },
};

export const reservation = {
  id: "rsv-rome-k3u7dq2hvmx5b4ta",
  requesterID: "rome",
  targetClusterID: "paris",
  requestedResources: { cpu: "4", memory: "8Gi" },
  status: {
    phase: "Reserved",
    message: "Use paris for 4 CPU / 8Gi Memory",
    reservedAt: "2026-07-01T10:00:00.123Z",
    expiresAt: "2026-07-01T11:30:00.123Z",
  },
  createdAt: "2026-07-01T10:00:00.123Z",
  cost: { perHour: "0.211", total: "0.3165", currency: "EUR" },
  generation: 1,
  key: "5f1c8a3e-2",
  targetClusterEndpoint: "https://10.0.0.7:6443",
  tier: "on-demand",
  priority: 10,
  decisionID: "dec-4f0q2",
};

export const waiting = {
  id: "rsv-rome-k3u7dq2hvmx5b4ta",
  requesterID: "rome",
  namespace: "ml-training",
  tenant: "ml",
  requestedResources: { cpu: "4", memory: "8Gi" },
  status: {
    phase: "Pending",
    message: "Waits for 4 CPU / 8Gi Memory at position 2 of 7: no cluster that suits it has room",
  },
  createdAt: "2026-07-01T10:00:00.123Z",
  until: "2026-07-01T14:00:00.123Z",
  generation: 1,
  key: "5f1c8a3e-2",
  tier: "on-demand",
  priority: 10,
  queue: {
    position: 2,
    of: 7,
    reason: "Capacity",
    expectedStart: "2026-07-01T14:05:00Z",
    share: 0.125,
  },
};

export const tenant = {
  name: "ml",
  inPolicy: true,
  weight: 3,
  share: 0.125,
  holds: { cpu: "24", memory: "96Gi", gpu: "6" },
  reservations: 3,
  quota: { gpu: "8" },
  maxPriority: 100,
  committedToday: "12.5",
  budgetPerDay: "50",
  currency: "EUR",
  waiting: 2,
  waitingSince: "2026-07-01T10:00:00.123Z",
};

export const instruction = {
  ...reservation,
  status: { ...reservation.status, message: "Hold 4 CPU / 8Gi Memory for requester rome" },
  key: undefined,
};

export const decision = {
  id: "dec-4f0q2",
  at: "2026-07-01T10:00:00.123Z",
  requesterID: "rome",
  request: reservationRequest,
  policyVersion: "default",
  weights: { resources: 0.7, cost: 0.3 },
  currency: "EUR",
  winner: "paris",
  considered: 2,
  fitted: 1,
  counts: { capacity: 1 },
  candidates: [
    {
      clusterID: "paris",
      advertisementAge: "12s",
      score: 0.71,
      parts: { resources: 0.59, cost: 1 },
      price: "0.211",
    },
    {
      clusterID: "berlin",
      advertisementAge: "3s",
      reason: "capacity",
      message: "needs 3 more CPU",
      missing: { cpu: "3" },
    },
  ],
  explanation: "paris lends 4 CPU / 8Gi Memory to rome.\n  paris   0.710\n  berlin  needs 3 more CPU",
};

export const quote = {
  fits: true,
  targetClusterID: "paris",
  cost: { perHour: "0.211", total: "0.3165", currency: "EUR" },
  decision,
};

export const adoptionRequest = {
  ledgerID: "led-8c1f",
  reservations: [
    {
      id: reservation.id,
      requesterID: "rome",
      targetClusterID: "paris",
      requestedResources: { cpu: "4", memory: "8Gi" },
      phase: "Active",
      generation: 2,
      createdAt: "2026-07-01T10:00:00.123Z",
    },
  ],
};

export const adoptionReply = {
  results: [{ id: reservation.id, outcome: "waiting", message: "waits for paris to report the same hold" }],
};

export const auditPage = {
  items: [
    {
      sequence: 1042,
      at: "2026-07-01T10:00:00.123Z",
      actor: "rome",
      action: "granted",
      subject: reservation.id,
      message: "paris lends 4 CPU / 8Gi Memory to rome",
      previousHash: "0".repeat(64),
      hash: "f".repeat(64),
    },
  ],
  next: "1042",
};

export const policyReply = {
  version: "default",
  source: "built-in",
  policy: { version: "default", weights: { resources: 0.7, cost: 0.3 }, staleness: "2m", disclosure: "full" },
};

export const dashboardLink = {
  url: "http://127.0.0.1:8090/#token=mYq1Zb0n3kS5wTt7vXy9AcDeFgHiJkLmNoPqRsTuVwX",
  role: "viewer",
  expiresAt: "2026-07-01T10:02:00.000Z",
};

export const noCapacity = {
  error: "No cluster can lend 8 CPU / 16Gi Memory to rome; 1 considered.",
  code: "no-capacity",
  reasons: [{ clusterID: "paris", reason: "capacity", message: "needs 3 more CPU", missing: { cpu: "3" } }],
  decisionID: "dec-4f0q2",
};

export const eventStream = [
  "id: 812",
  "event: instruction",
  `data: ${JSON.stringify(instruction)}`,
  "",
  "id: 813",
  "event: capacity",
  'data: {"change":"freed"}',
  "",
  "",
].join("\n");

const total = { cpu: 4, memory: 8_589_934_592, gpu: 0 };

export const timeline = {
  reservation,
  steps: [
    { step: "requested", at: "2026-07-01T10:00:00.123Z", text: "rome asked for 4 CPU / 8Gi Memory" },
    { step: "active", text: "waits for rome to use it" },
  ],
  requester: { id: "rome", isStale: false, state: "has not activated it yet" },
  provider: {
    id: "paris",
    receivedAt: "2026-07-01T10:00:00Z",
    isStale: false,
    state: "holds the capacity",
  },
  used: total,
  costSoFar: 0.07,
  object: "apiVersion: broker.fluidos.eu/v1alpha1\nkind: Reservation\n",
};

const { id, at, requesterID, winner, considered, fitted } = decision;
const asked = "4 CPU / 8Gi Memory";
const decisionSummary = { id, at, requesterID, winner, considered, fitted, asked };

export const decisionPage = { items: [decisionSummary], total: 1 };

export const refusedRequest = {
  id: "req-7c1e09d4a2b85f36",
  requesterID: "rome",
  namespace: "ml-training",
  tenant: "ml",
  requestedResources: { cpu: "4", memory: "8Gi" },
  tier: "on-demand",
  priority: 10,
  reason: "capacity",
  attempts: 12,
  firstAt: "2026-07-01T10:00:00.123Z",
  lastAt: "2026-07-01T10:05:30.123Z",
  decisionID: "dec-4f0q2",
};

export const demand = {
  tenants: [
    {
      tenant: "ml",
      waiting: { requests: 2, resources: total },
      refused: { requests: 1, resources: total },
    },
  ],
  left: 0,
};

export const flows = {
  flows: [{ provider: "paris", requester: "rome", amounts: total, reservations: 1 }],
  left: 0,
};

const hour = { window: "hour", from: "2026-07-01T09:00:00Z", stepMs: 10_000 };

export const capacityHistory = {
  ...hour,
  points: [{}, { available: total, reserved: total, allocatable: total }],
};

export const demandHistory = {
  ...hour,
  granted: [0, 2],
  refused: [{ reason: "capacity", counts: [0, 1] }],
};

const spent = { spent: 1.27, saved: 0.31, reservations: 3 };

export const spending = {
  window: "day",
  currency: "EUR",
  spent: 1.27,
  saved: 0.31,
  byRequester: [{ id: "rome", ...spent }],
  byProvider: [{ id: "paris", ...spent }],
  unpriced: 0,
};

export const adminStream = `event: hello
data: {"commit":812,"ledgerID":"led-8c1f"}
id: 812

event: changes
data: ${JSON.stringify({ clusters: [], reservations: [reservation], decisions: [decisionSummary], more: false })}
id: 813

: alive

`;
