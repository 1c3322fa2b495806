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
  queue: {
    max: 0,
    perTenant: 7,
    maxWait: "2h",
    turnaround: "0s",
    holdAfter: "90s",
    backfill: "0s",
  },
  tenants: {
    ml: {
      members: [{ cluster: "rome", namespaces: ["ml-*", "gpu"] }, { cluster: "oslo" }],
      weight: 2.5,
      quota: { gpu: "8", reservations: 0 },
      budget: { perDay: "0.290001" },
      maxPriority: -1,
    },
    constructor: { members: [{ cluster: "rome", namespaces: ["web"] }] },
    default: { weight: 0.5, maxPriority: 100 },
  },
  preemption: {
    victims: "lower-priority",
    minPriorityGap: 7,
    grace: "90s",
    minRun: "0s",
    maxUnderNotice: "7.1%",
  },
  disclosure: "reasons",
  sliceDefaults: { pods: 50 },
};

function problemsOf(input: unknown): string[] {
  const result = parsePolicy(input);
  return result.ok ? [] : result.problems.map(describeProblem);
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `n-${index}`);
const clusters = (count: number) => names(count).map((cluster) => ({ cluster }));
const manyTenants = (count: number) =>
  Object.fromEntries(clusters(count).map((member) => [`t-${member.cluster}`, { members: [member] }]));
/** a and b, both with a part of rome. */
function twoTenants(first?: readonly string[], second?: readonly string[]) {
  const claiming = (namespaces?: readonly string[]) => ({
    members: [{ cluster: "rome", ...(namespaces === undefined ? {} : { namespaces }) }],
  });
  return { tenants: { a: claiming(first), b: claiming(second) } };
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
        queue: {
          max: 0,
          maxPerTenant: 7,
          maxWaitMs: 7_200_000,
          turnaroundMs: 0,
          holdAfterMs: 90_000,
          backfillMs: 0,
        },
        tenants: {
          ml: {
            members: [{ cluster: "rome", namespaces: ["ml-*", "gpu"] }, { cluster: "oslo" }],
            weight: 2.5,
            quota: { gpus: 8, reservations: 0 },
            budget: { perDay: 290_001 },
            maxPriority: -1,
          },
          constructor: { members: [{ cluster: "rome", namespaces: ["web"] }], weight: 1, quota: {} },
          default: { members: [], weight: 0.5, quota: {}, maxPriority: 100 },
        },
        preemption: {
          victims: "lower-priority",
          minPriorityGap: 7,
          graceMs: 90_000,
          minRunMs: 0,
          maxUnderNotice: 0.071,
        },
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

  test("a queue that states one thing has the rest as it is without a policy", () => {
    expect(parsePolicy({ queue: { perTenant: 3 } })).toMatchObject({
      policy: { queue: { ...DEFAULT_POLICY.queue, maxPerTenant: 3 } },
    });
  });

  test.each([
    ["namespaces that differ", ["ml-*"], ["web-*"]],
    ["a name that only begins like the other", ["ml"], ["ml-a"]],
    ["a pattern that begins with the other's name", ["ml"], ["ml-*"]],
  ])("tenants may share a cluster by %s", (_, first, second) => {
    expect(problemsOf(twoTenants(first, second))).toEqual([]);
    expect(problemsOf(twoTenants(second, first))).toEqual([]);
  });

  test.each([
    ["the same name", ["ml"], ["ml"]],
    ["a name and its pattern", ["ml-a"], ["ml-*"]],
    ["patterns one inside the other", ["ml-*"], ["ml-a-*"]],
    ["everything and a name", undefined, ["web"]],
    ["everything twice", undefined, undefined],
    ["a star and a pattern", ["*"], ["ml-*"]],
    ["the second of several", ["web", "ml-*"], ["shop", "ml-b"]],
  ])("tenants may not overlap: %s", (_, first, second) => {
    const says = /^tenants\.b\.members: claims namespaces of rome that a claims, too/;
    expect(problemsOf(twoTenants(first, second))).toEqual([expect.stringMatching(says)]);
    expect(problemsOf(twoTenants(second, first))).toEqual([expect.stringMatching(says)]);
  });

  test.each([
    ["63 characters", `${"a".repeat(62)}*`, true],
    ["64 characters", `${"a".repeat(63)}*`, false],
    ["a star in the middle", "a*b", false],
    ["two stars", "a**", false],
    ["a capital letter", "Ml-*", false],
    ["nothing", "", false],
    ["a star alone", "*", true],
  ])("a pattern of %s", (_, pattern, isGood) => {
    const tenants = { ml: { members: [{ cluster: "rome", namespaces: [pattern] }] } };
    expect(problemsOf({ tenants }).length).toBe(isGood ? 0 : 1);
  });

  test.each([
    ["256 tenants", manyTenants(256), true],
    ["257 tenants", manyTenants(257), false],
    ["256 members", { ml: { members: clusters(256) } }, true],
    ["257 members", { ml: { members: clusters(257) } }, false],
    ["64 namespaces", { ml: { members: [{ cluster: "rome", namespaces: names(64) }] } }, true],
    ["65 namespaces", { ml: { members: [{ cluster: "rome", namespaces: names(65) }] } }, false],
    ["the largest budget", { ml: { members: clusters(1), budget: { perDay: "1000000000" } } }, true],
    ["a larger budget", { ml: { members: clusters(1), budget: { perDay: "1000000000.1" } } }, false],
    ["a budget of nothing", { ml: { members: clusters(1), budget: { perDay: "0" } } }, true],
    ["a debt as budget", { ml: { members: clusters(1), budget: { perDay: "-1" } } }, false],
    ["a name of 63 characters", { ["a".repeat(63)]: { members: clusters(1) } }, true],
    ["a name of 64 characters", { ["a".repeat(64)]: { members: clusters(1) } }, false],
  ])("bounds: %s", (_, tenants, isGood) => {
    expect(problemsOf({ tenants }).length).toBe(isGood ? 0 : 1);
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
    [
      "a tenant without members",
      { tenants: { ml: { weight: 2 } } },
      "tenants.ml.members: name at least one cluster",
    ],
    [
      "members of the default tenant",
      { tenants: { default: { members: [{ cluster: "rome" }] } } },
      "tenants.default.members: must be left out: default is for requests that no tenant claims",
    ],
    [
      "a weight of zero",
      { tenants: { ml: { members: [{ cluster: "rome" }], weight: 0 } } },
      "tenants.ml.weight: 0 must be more than 0",
    ],
    [
      "a tenant's quota that cannot be counted",
      { tenants: { ml: { members: [{ cluster: "rome" }], quota: { memory: "10Ei" } } } },
      'tenants.ml.quota.memory: "10Ei" is too large: the most that can be counted is "9007199254740991".',
    ],
    [
      "a longest wait of nothing",
      { queue: { maxWait: "0s" } },
      'queue.maxWait: "0s" must be more than 0; write for example 1h30m',
    ],
    ["a queue beyond its bound", { queue: { max: 100_001 } }, "queue.max: 100001 must be at most 100000"],
    [
      "victims where nothing limits the priority of other clusters",
      {
        preemption: { victims: "spot" },
        tenants: { ml: { members: [{ cluster: "rome" }], maxPriority: 1 } },
      },
      "preemption.victims: needs tenants.default.maxPriority: without it every cluster could preempt all others",
    ],
    [
      "victims of the same priority",
      { preemption: { minPriorityGap: 0 } },
      "preemption.minPriorityGap: 0 must be at least 1",
    ],
    [
      "an end without a notice",
      { preemption: { grace: "0s" } },
      'preemption.grace: "0s" must be more than 0; write for example 1h30m',
    ],
    [
      "a part that is no percentage",
      { preemption: { maxUnderNotice: "101%" } },
      'preemption.maxUnderNotice: "101%" is not a percentage, such as 5%; write for example 5%',
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
