import { DEFAULT_POLICY } from "@resource-broker/domain";
import { describe, expect, test } from "vitest";
import { describeProblem } from "../schema/problem.ts";
import { validateExactly } from "../schema/validate.ts";
import { DEFAULT_SLICE, fromPolicy, parsePolicy } from "./policy-mapping.ts";
import { policySchema } from "./policy-schema.ts";

const whole = {
  version: "2026-07",
  weights: { resources: 0.5, cost: 0.3, latency: 0.2 },
  ratings: { latency: { paris: 0.9, constructor: 0.1 } },
  staleness: "90s",
  defaultTTL: "8h",
  maxTTL: "168h",
  activationTimeout: "10m",
  requesterLostAfter: "24h",
  refusalMemory: "0s",
  prices: {
    currency: "EUR",
    rates: { USD: 0.92 },
    clusters: {
      paris: {
        cpuCost: 0.042,
        memoryCost: "0.005",
        extendedCost: { "amd.com/gpu": "1.1" },
        currency: "USD",
        spot: { cpuCost: "0.01" },
        windows: [{ name: "night", days: [1, 5], from: "22:00", to: "06:30", multiplier: 0.5 }],
      },
    },
  },
  lending: { default: { deny: ["tokyo"] }, clusters: { paris: { allow: ["rome"] } } },
  quotas: { rome: { cpu: "64", memory: "256Gi", gpu: 0, extended: { "amd.com/gpu": "0" } } },
  defaultQuota: { cpu: "16", reservations: 20 },
  disclosure: "reasons",
  sliceDefaults: { pods: 50 },
};

function problemsOf(input: unknown): string[] {
  const result = parsePolicy(input);
  return result.ok ? [] : result.problems.map(describeProblem);
}

describe("parsePolicy", () => {
  test.each([
    ["an empty file", undefined],
    ["a file with nothing but comments", null],
    ["an empty object", {}],
  ])("%s gives the defaults", (_, input) => {
    expect(parsePolicy(input)).toEqual({ ok: true, policy: DEFAULT_POLICY, sliceDefaults: DEFAULT_SLICE });
  });

  test("reads every field", () => {
    expect(parsePolicy(whole)).toEqual({
      ok: true,
      policy: {
        version: "2026-07",
        weights: { resources: 0.5, cost: 0.3, latency: 0.2 },
        ratings: { latency: { paris: 0.9, constructor: 0.1 } },
        stalenessMs: 90_000,
        defaultTtlMs: 28_800_000,
        maxTtlMs: 604_800_000,
        activationTimeoutMs: 600_000,
        requesterLostMs: 86_400_000,
        refusalMemoryMs: 0,
        prices: {
          currency: "EUR",
          rates: { USD: 0.92 },
          clusters: {
            paris: {
              currency: "USD",
              onDemand: { cpuHour: 0.042, memoryGbHour: 0.005, extendedHour: { "amd.com/gpu": 1.1 } },
              spot: { cpuHour: 0.01 },
              windows: [{ name: "night", days: [1, 5], fromMinute: 1320, toMinute: 390, multiplier: 0.5 }],
            },
          },
        },
        lending: { default: { deny: ["tokyo"] }, clusters: { paris: { allow: ["rome"] } } },
        quotas: {
          rome: { cpuMillis: 64_000, memoryBytes: 256 * 1024 ** 3, gpus: 0, extended: { "amd.com/gpu": 0 } },
        },
        defaultQuota: { cpuMillis: 16_000, reservations: 20 },
        queue: DEFAULT_POLICY.queue,
        tenants: {},
        preemption: DEFAULT_POLICY.preemption,
        disclosure: "reasons",
      },
      sliceDefaults: { pods: 50, ephemeralStorage: "20Gi" },
    });
  });

  test("a default quota without a number of reservations keeps the built-in one", () => {
    expect(parsePolicy({ defaultQuota: { cpu: "8" } })).toMatchObject({
      policy: { defaultQuota: { cpuMillis: 8000, reservations: DEFAULT_POLICY.defaultQuota.reservations } },
    });
  });

  test("a policy that does not name itself takes the name it is given", () => {
    expect(parsePolicy({}, "sha256:abc")).toMatchObject({ policy: { version: "sha256:abc" } });
  });

  test.each([
    ["a typo", { weigths: {} }, 'weigths: is not known here; did you mean "weights"?'],
    [
      "a typo deep inside",
      { lending: { default: { alow: [] } } },
      'lending.default.alow: is not known here; did you mean "allow"?',
    ],
    [
      "a typo in a cluster's price",
      { prices: { clusters: { paris: { cpuCost: 1, memoryCost: 1, gpuPrice: 1, currency: "EUR" } } } },
      "prices.clusters.paris.gpuPrice: is not known here; known here are cpuCost, memoryCost, gpuCost, storageCost, extendedCost, currency, spot, windows",
    ],
    [
      "a typo in a scorer",
      { weights: { resource: 0.7, cost: 0.3 } },
      'weights.resource: has a weight but no ratings; did you mean "resources"?',
    ],
    [
      "a weight without marks",
      { weights: { resources: 1, latency: 1 } },
      "weights.latency: has a weight but no ratings; add ratings.latency",
    ],
    ["no weight at all", { weights: { resources: 0 } }, "weights: at least one weight must be more than 0"],
    ["a negative weight", { weights: { cost: -1 } }, "weights.cost: -1 must be at least 0"],
    [
      "a default longer than the maximum",
      { defaultTTL: "2h", maxTTL: "1h" },
      "defaultTTL: must not be longer than maxTTL (1h)",
    ],
    [
      "a duration in words",
      { staleness: "soon" },
      'staleness: "soon" is not a duration; write for example 90s, 15m or 1h30m',
    ],
    ["a rate of zero", { prices: { rates: { USD: 0 } } }, "prices.rates.USD: 0 must be more than 0"],
    [
      "a price in a currency without a rate",
      { prices: { clusters: { paris: { cpuCost: 1, memoryCost: 1, currency: "USD" } } } },
      "prices.clusters.paris.currency: USD has no rate; write prices.rates.USD, its worth in EUR",
    ],
    [
      "a rating beyond 1",
      { ratings: { latency: { paris: 2 } } },
      "ratings.latency.paris: 2 must be at most 1",
    ],
    [
      "a quota that cannot be counted",
      { quotas: { rome: { memory: "10Ei" } } },
      'quotas.rome.memory: "10Ei" is too large: the most that can be counted is "9007199254740991".',
    ],
    [
      "scratch space that cannot be counted",
      { sliceDefaults: { ephemeralStorage: "10Ei" } },
      'sliceDefaults.ephemeralStorage: "10Ei" is too large: the most that can be counted is "9007199254740991".',
    ],
    [
      "a virtual node without pods",
      { sliceDefaults: { pods: 0 } },
      "sliceDefaults.pods: 0 must be at least 1",
    ],
    ["a list", [], "a list must be an object"],
    ["a text", "weights", '"weights" must be an object'],
  ])("refuses %s", (_, input, expected) => {
    expect(problemsOf(input)).toEqual([expected]);
  });
});

describe("fromPolicy", () => {
  test.each([
    ["the defaults", {}],
    ["every field", whole],
  ])("writes %s in the form of the policy file", (_, input) => {
    const parsed = parsePolicy(input);
    expect(parsed).toMatchObject({ ok: true });
    if (!parsed.ok) return;
    const written = fromPolicy(parsed.policy, parsed.sliceDefaults);
    expect(validateExactly(policySchema, written)).toEqual({ ok: true, value: written });
    expect(parsePolicy(written)).toEqual(parsed);
  });
});
