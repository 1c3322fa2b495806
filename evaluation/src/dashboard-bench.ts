/**
 * `node evaluation/src/dashboard-bench.ts`: what the dashboard's answers cost the broker's one thread, with 1,000 clusters and
 * 10,000 reservations, JSON included. Figures are printed, never asserted.
 */
import {
  AdvertisementWatch,
  CapacityHistory,
  clusterPage,
  flowsOf,
  readClusterQuery,
  readQuery,
  readReservationQuery,
  reservationLists,
  spendingOf,
} from "@resource-broker/broker/testing";
import { apply, DEFAULT_POLICY, type Decision, emptyLedger, type Reservation } from "@resource-broker/domain";
import { cluster, request } from "@resource-broker/domain/testing";

const CLUSTERS = 1000;
const RESERVATIONS = 10_000;
const ROUNDS = 200;
const NOW = Date.UTC(2026, 0, 5, 12);
const name = (count: number): string => `cluster-${String(count).padStart(4, "0")}`;

const ledger = emptyLedger();
for (let count = 0; count < CLUSTERS; count++) {
  const advertisement = cluster(name(count), {
    cpu: 64,
    memoryGi: 256,
    gpu: count % 5,
    allocated: { cpu: count % 40, memoryGi: 1 },
    more: {
      clusterName: `Cluster ${count}`,
      labels: { "topology.kubernetes.io/region": `region-${count % 12}`, tier: "gold" },
      cost: {
        currency: "EUR",
        onDemand: { cpuHour: 0.02 + (count % 17) / 1000, memoryGbHour: 0.004, gpuHour: 1 },
      },
    },
  });
  apply(ledger, { kind: "advertised", at: NOW - (count % 60) * 1000, advertisement });
}
const decision: Decision = {
  id: "dec-1",
  at: NOW,
  requester: "x",
  request: request({ cpu: 0, memoryGi: 0 }),
  policyVersion: "default",
  weights: DEFAULT_POLICY.weights,
  currency: "EUR",
  market: { medianRatings: {} },
  considered: 0,
  fitted: 0,
  refusedBy: {},
  candidates: [],
};
for (let count = 0; count < RESERVATIONS; count++) {
  const asked = request({ cpu: (1 + (count % 20)) / 10, memoryGi: 1 });
  const at = NOW - ((count * 7919) % 80_000) * 1000;
  const reservation: Reservation = {
    id: `rsv-${name((count * 31) % CLUSTERS)}-${((count * 2_654_435_761) % 2 ** 32).toString(36)}-${count}`,
    requester: name((count * 31) % CLUSTERS),
    provider: name((count * 17 + 1) % CLUSTERS),
    granted: asked.resources,
    request: asked,
    phase: "Reserved",
    cost: { currency: "EUR", perHour: 0.1 + (count % 9) / 10 },
    createdAt: at,
    reservedAt: at,
    expiresAt: NOW + 3_600_000,
    acknowledged: true,
    generation: 1,
  };
  apply(ledger, { kind: "granted", at, reservation, decision });
}

const moment = { now: NOW, policy: DEFAULT_POLICY };
const engine = { ledger, commitNumber: 0 };
const lists = reservationLists(engine);
const history = new CapacityHistory();
const watch = new AdvertisementWatch();
const clusters = (query: string) => () => clusterPage(ledger, readClusterQuery(readQuery(query)), moment);
const reservations = (query: string) => () => lists(readReservationQuery(readQuery(query)), () => true);
const afterCommit = (work: () => unknown) => () => {
  engine.commitNumber++;
  return work();
};

const WORK: readonly [string, () => unknown][] = [
  ["clusters: first page by ID", clusters("")],
  ["clusters: by price, 200 rows", clusters("sort=price&limit=200")],
  ["clusters: text that matches few", clusters("q=cluster-04")],
  ["reservations: first page after a commit", afterCommit(reservations(""))],
  ["reservations: by requester after a commit", afterCommit(reservations("sort=requester&order=asc"))],
  ["reservations: another text, no commit between", reservations("q=cluster-04")],
  ["reservations: page 100", reservations("offset=5000")],
  ["flows, 10,000 reservations", () => flowsOf(ledger, "cpu")],
  [
    "money of a day",
    () =>
      spendingOf("day", {
        reservations: ledger.reservations.values(),
        meanPriceOf: () => 0.5,
        prices: DEFAULT_POLICY.prices,
        now: NOW,
      }),
  ],
  ["history: one sample of everything", () => history.sample(ledger, moment)],
  ["history: a day of one cluster", () => history.read("day", NOW, name(7))],
  ["live: a look at every cluster", () => watch.poll(ledger, moment)],
];

console.log(`${CLUSTERS} clusters, ${RESERVATIONS} reservations; milliseconds on the broker's thread`);
for (const [what, work] of WORK) {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    JSON.stringify(work());
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(share * times.length)] ?? 0).toFixed(2).padStart(8);
  console.log(`${what.padEnd(48)} p50 ${at(0.5)}  p95 ${at(0.95)}`);
}
