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
import { cluster, MINUTE_MS, NOON, request, reservation } from "@resource-broker/domain/testing";
import fc from "fast-check";

export const NOW = NOON;
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
    all.map(({ granted, lastsMinutes, perHour, currency, ...rest }, index) => {
      const { requester, phase, createdAt } = rest;
      return reservation({
        ...rest,
        id: `rsv-${requester}-${String(index * 7919).padStart(6, "0")}`,
        granted: resourceVector(granted),
        ...(lastsMinutes === undefined ? {} : { expiresAt: createdAt + lastsMinutes * MINUTE_MS }),
        ...(isFinal(phase) ? { endedAt: createdAt + MINUTE_MS, reason: "Expired" } : {}),
        ...(perHour === undefined ? {} : { cost: { currency, perHour } }),
      });
    }),
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
    advertisement: cluster(clusterId, {
      more: {
        clusterName: `The Cluster ${clusterId.toUpperCase()}`,
        allocatable: resourceVector(allocatable),
        labels: region === "" ? {} : { [REGION_LABEL]: region },
        ...(cpuHour === undefined ? {} : { cost: { currency: "EUR", onDemand: { cpuHour } } }),
      },
    }),
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
  request: request(),
  policyVersion: "default",
  weights: DEFAULT_POLICY.weights,
  currency: "EUR",
  market: { medianRatings: {} },
  considered: 0,
  fitted: 0,
  refusedBy: {},
  candidates: [],
};
