import { seededRandom } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { costOf, readListPrices } from "./list-prices.ts";
import { POLICIES, replayTrace } from "./replay-trace.ts";
import { metricsOf, wrongOutcomes } from "./results.ts";
import { makeTrace, type TraceRequest } from "./trace.ts";

const HOUR_MS = 3_600_000;
const GIB = 2 ** 30;
const ask = (atHour: number, cpus: number, hours: number): TraceRequest => ({
  atMs: atHour * HOUR_MS,
  requester: "edge-0",
  cpuMillis: cpus * 1000,
  memoryBytes: cpus * GIB,
  durationMs: hours * HOUR_MS,
});

const PROVIDERS = [
  { cluster: "google-iowa-e2", cpus: 4 },
  { cluster: "aws-tokyo", cpus: 8 },
];

describe("list prices", () => {
  test("every offer has a name of its own, a price, a source and a year", async () => {
    const { offers, typedOn } = await readListPrices();
    expect(new Set(offers.map(({ cluster }) => cluster)).size).toBe(offers.length);
    expect(typedOn).toMatch(/^\d{4}-\d\d-\d\d$/);
    for (const offer of offers) {
      expect(offer.perHour).toBeGreaterThan(0);
      expect(offer).toMatchObject({
        source: expect.stringMatching(/^https:/),
        asOf: expect.stringMatching(/^20\d\d$/),
      });
    }
  });

  test("a machine's parts cost what the machine costs", async () => {
    const prices = await readListPrices();
    for (const offer of prices.offers) {
      const { cpuHour = 0, memoryGbHour = 0 } = costOf(offer, prices).onDemand;
      expect(4 * cpuHour + 16 * 1.073741824 * memoryGbHour).toBeCloseTo(offer.perHour, 10);
    }
  });
});

describe("the trace", () => {
  const options = { count: 500, lastsMs: 48 * HOUR_MS, requesters: 3 };

  test("is the same for the same seed and another for another", () => {
    const first = makeTrace({ random: seededRandom(7), ...options });
    expect(makeTrace({ random: seededRandom(7), ...options })).toEqual(first);
    expect(makeTrace({ random: seededRandom(8), ...options })).not.toEqual(first);
  });

  test("is in order of time, and busier at noon than at midnight", () => {
    const trace = makeTrace({ random: seededRandom(7), ...options });
    expect(trace.map(({ atMs }) => atMs)).toEqual(trace.map(({ atMs }) => atMs).toSorted((a, b) => a - b));
    const at = (from: number, to: number): number =>
      trace.filter(
        ({ atMs }) => atMs % (24 * HOUR_MS) >= from * HOUR_MS && atMs % (24 * HOUR_MS) < to * HOUR_MS,
      ).length;
    expect(at(10, 14)).toBeGreaterThan(4 * at(22, 24) + at(0, 2));
  });
});

describe("playing a trace", () => {
  test("takes the cheap provider first when only the price counts, and the dear one when it is full", async () => {
    const prices = await readListPrices();
    const trace = [ask(0, 3, 2), ask(1, 3, 2), ask(3, 3, 2), ask(3.5, 16, 1)];
    const outcomes = replayTrace(trace, "cheapest", { prices, providers: PROVIDERS, seed: 1 });
    expect(outcomes.map(({ provider }) => provider)).toEqual([
      "google-iowa-e2",
      "aws-tokyo",
      "google-iowa-e2",
      undefined,
    ]);
  });

  test("never lends twice and never refuses while there is room, whatever the policy", async () => {
    const prices = await readListPrices();
    const trace = makeTrace({ random: seededRandom(3), count: 400, lastsMs: 48 * HOUR_MS, requesters: 3 });
    const setting = { trace, providers: PROVIDERS, lastsMs: 48 * HOUR_MS };
    for (const policy of POLICIES) {
      const outcomes = replayTrace(trace, policy, { prices, providers: PROVIDERS, seed: 3 });
      expect(outcomes.filter(({ provider }) => provider === undefined).length).toBeGreaterThan(0);
      expect(wrongOutcomes({ policy, outcomes }, setting)).toEqual([]);
    }
  });
});

describe("figures of a played trace", () => {
  const trace = [ask(0, 2, 1), ask(0, 2, 1), ask(0, 4, 1)];
  const setting = {
    trace,
    providers: [
      { cluster: "a", cpus: 4 },
      { cluster: "b", cpus: 4 },
    ],
    lastsMs: HOUR_MS,
  };

  test("cost, refusals and the spread of lending are counted", () => {
    const outcomes = [{ provider: "a", price: 1 }, { provider: "a", price: 3 }, {}];
    expect(metricsOf({ policy: "balanced", outcomes }, setting)).toEqual({
      policy: "balanced",
      granted: 2,
      refused: 1,
      cost: 4,
      costPerThousandCpuHours: 1000,
      utilisation: { a: 100, b: 0 },
      spread: 50,
    });
  });

  test.each([
    [
      "lending what is not there",
      [{ provider: "a" }, { provider: "a" }, { provider: "a" }],
      /request 2 was granted by a/,
    ],
    [
      "refusing while there is room",
      [{ provider: "a" }, {}, { provider: "b" }],
      /request 1 was refused, but a had room/,
    ],
  ])("%s is found", (_, outcomes, problem) => {
    expect(wrongOutcomes({ policy: "random", outcomes }, setting)).toEqual([expect.stringMatching(problem)]);
  });
});
