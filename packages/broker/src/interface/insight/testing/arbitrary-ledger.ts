import { resourceVector } from "@resource-broker/base";
import {
  type Advertisement,
  apply,
  DEFAULT_POLICY,
  type Decision,
  emptyLedger,
  isFinal,
  type LedgerView,
  PHASES,
  REGION_LABEL,
  type Reservation,
} from "@resource-broker/domain";
import fc from "fast-check";

export const NOW = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const GI = 1024 ** 3;
const NAMES = ["rome", "paris", "tokyo", "berlin", "oslo", "constructor"];

const amounts = fc.record({
  cpuMillis: fc.integer({ min: 0, max: 8 }).map((cpus) => cpus * 500),
  memoryBytes: fc.integer({ min: 0, max: 4 }).map((gi) => gi * GI),
  gpus: fc.integer({ min: 0, max: 2 }),
});

/** Few values of everything, so that many rows have the same. */
export const reservations: fc.Arbitrary<Reservation[]> = fc
  .array(
    fc.record({
      requester: fc.constantFrom(...NAMES),
      provider: fc.constantFrom(...NAMES),
      granted: amounts,
      phase: fc.constantFrom(...PHASES.filter((phase) => phase !== "Pending")),
      createdAt: fc.integer({ min: 0, max: 5 }).map((minutes) => NOW - minutes * MINUTE_MS),
      lastsMinutes: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      perHour: fc.option(fc.constantFrom(0, 0.25, 0.5, 2), { nil: undefined }),
      currency: fc.constantFrom("EUR", "USD", "XXX"),
    }),
    { maxLength: 40 },
  )
  .map((all) =>
    all.map(({ granted, createdAt, lastsMinutes, perHour, currency, phase, ...parties }, index) => ({
      ...parties,
      id: `rsv-${parties.requester}-${String(index * 7919).padStart(6, "0")}`,
      granted: resourceVector(granted),
      request: {
        resources: resourceVector(granted),
        priority: 0,
        constraints: {},
        tier: "on-demand" as const,
      },
      phase,
      createdAt,
      reservedAt: createdAt,
      ...(lastsMinutes === undefined ? {} : { expiresAt: createdAt + lastsMinutes * MINUTE_MS }),
      ...(isFinal(phase) ? { endedAt: createdAt + MINUTE_MS, reason: "Expired" as const } : {}),
      ...(perHour === undefined ? {} : { cost: { currency, perHour } }),
      acknowledged: false,
      generation: 1,
    })),
  );

const advertisement: fc.Arbitrary<{ readonly at: number; readonly advertisement: Advertisement }> = fc
  .record({
    clusterId: fc.constantFrom(...NAMES),
    region: fc.constantFrom("", "eu-west", "ap-northeast"),
    allocatable: amounts,
    cpuHour: fc.option(fc.constantFrom(0.1, 0.2), { nil: undefined }),
    ageMinutes: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ clusterId, region, allocatable, cpuHour, ageMinutes }) => ({
    at: NOW - ageMinutes * MINUTE_MS,
    advertisement: {
      clusterId,
      clusterName: `The Cluster ${clusterId.toUpperCase()}`,
      capacity: resourceVector(allocatable),
      allocatable: resourceVector(allocatable),
      allocated: resourceVector({}),
      usage: [],
      nodeShapes: [],
      gpuModels: [],
      labels: region === "" ? {} : { [REGION_LABEL]: region },
      ...(cpuHour === undefined ? {} : { cost: { currency: "EUR", onDemand: { cpuHour } } }),
      protocol: 2,
    },
  }));

/** Clusters that advertised, and what they lend, whether it fits or not: some are overcommitted. */
export const ledgers: fc.Arbitrary<LedgerView> = fc
  .record({
    advertised: fc.array(advertisement, { maxLength: 8 }),
    lent: reservations,
    cordoned: fc.subarray(NAMES),
  })
  .map(({ advertised, lent, cordoned }) => {
    const ledger = emptyLedger();
    for (const { at, advertisement } of advertised.toSorted((a, b) => a.at - b.at))
      apply(ledger, { kind: "advertised", at, advertisement });
    for (const reservation of lent.filter(({ phase }) => !isFinal(phase)))
      apply(ledger, { kind: "granted", at: reservation.createdAt, reservation, decision: NO_DECISION });
    for (const clusterId of cordoned)
      apply(ledger, { kind: "cordoned", at: NOW, clusterId, cordon: { at: NOW, by: "ops" } });
    return ledger;
  });

export const NO_DECISION: Decision = {
  id: "dec-1",
  at: NOW,
  requester: "rome",
  request: { resources: resourceVector({}), priority: 0, constraints: {}, tier: "on-demand" },
  policyVersion: "default",
  weights: DEFAULT_POLICY.weights,
  currency: "EUR",
  market: { medianRatings: {} },
  considered: 0,
  fitted: 0,
  refusedBy: {},
  candidates: [],
};
