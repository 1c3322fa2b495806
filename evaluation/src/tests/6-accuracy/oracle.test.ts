import { describe, expect, test } from "vitest";
import {
  type Amounts,
  decideByRules,
  type OracleCluster,
  type OracleInput,
  type OracleRequest,
} from "./oracle.ts";

const amounts = (cpus: number, gi: number, gpus = 0): Amounts => ({
  cpuMillis: cpus * 1000,
  memoryMi: gi * 1024,
  gpus,
});
const NONE = amounts(0, 0);

function cluster(id: string, more: Partial<OracleCluster> = {}): OracleCluster {
  return {
    id,
    allocatable: amounts(16, 64),
    allocated: NONE,
    labels: {},
    nodeShapes: [],
    isCordoned: false,
    ...more,
  };
}

function request(more: Partial<OracleRequest> = {}): OracleRequest {
  return { requester: "rome", wanted: amounts(4, 8), excluded: [], regions: [], labels: {}, ...more };
}

function world(clusters: readonly OracleCluster[], more: Partial<OracleInput> = {}): OracleInput {
  const rules = { weights: { resources: 0.7, cost: 0.3 }, currency: "EUR", rates: { USD: 0.5 }, denied: {} };
  return { clusters, reserved: new Map(), rules, ...more };
}

const eur = (cpu: number, memoryGb = 0) => ({ cpu, memoryGb, currency: "EUR" });
const usd = (cpu: number) => ({ cpu, memoryGb: 0, currency: "USD" });

describe("who may not lend", () => {
  test.each<[string, Partial<OracleCluster>, Partial<OracleRequest>]>([
    ["self", {}, { requester: "paris" }],
    ["target", {}, { target: "tokyo" }],
    ["excluded", {}, { excluded: ["paris"] }],
    ["region", { region: "us" }, { regions: ["eu"] }],
    ["labels", { labels: { tier: "gold" } }, { labels: { tier: "silver" } }],
    ["cordoned", { isCordoned: true }, {}],
    ["capacity", { allocated: amounts(13, 0) }, {}],
    ["capacity", {}, { wanted: amounts(1, 1, 1) }],
    ["node-shape", { nodeShapes: [amounts(2, 8)] }, { perNode: amounts(4, 1) }],
  ])("%s", (reason, more, asked) => {
    const { winner, refusals } = decideByRules(world([cluster("paris", more)]), request(asked));
    expect(winner).toBeUndefined();
    expect(refusals.get("paris")).toEqual([reason]);
  });

  test("one who has lent it already, or has lent more than it has left", () => {
    const reserved = new Map([["paris", [amounts(13, 1), amounts(4, 1)]]]);
    expect(decideByRules(world([cluster("paris")], { reserved }), request()).refusals.get("paris")).toEqual([
      "capacity",
    ]);
  });

  test("one whose operator says so", () => {
    const rules = { ...world([]).rules, denied: { paris: ["rome"] } };
    expect(decideByRules(world([cluster("paris")], { rules }), request()).refusals.get("paris")).toEqual([
      "lending-policy",
    ]);
  });
});

describe("who lends", () => {
  test.each<[string, readonly OracleCluster[], string | undefined]>([
    [
      "the one with the most headroom",
      [cluster("a", { allocated: amounts(8, 8) }), cluster("b", { allocated: amounts(2, 8) })],
      "b",
    ],
    ["the cheaper of two alike", [cluster("a", { price: eur(2) }), cluster("b", { price: eur(1) })], "b"],
    [
      "the cheaper one after conversion",
      [cluster("a", { price: usd(3) }), cluster("b", { price: eur(2) })],
      "a",
    ],
    [
      "a free one before any that costs",
      [cluster("a", { price: eur(0.01) }), cluster("b", { price: eur(0) })],
      "b",
    ],
    [
      "one without a price is taken for a middling one",
      [
        cluster("a", { price: eur(1) }),
        cluster("b"),
        cluster("c", { price: eur(4) }),
        cluster("d", { price: eur(2) }),
      ],
      "a",
    ],
    [
      "headroom weighs more than price",
      [cluster("a", { price: eur(1), allocated: amounts(12, 56) }), cluster("b", { price: eur(1.5) })],
      "b",
    ],
    ["the first by name of two that are alike", [cluster("b"), cluster("a")], "a"],
    ["nobody where there is nobody", [], undefined],
  ])("%s", (_, clusters, winner) => {
    expect(decideByRules(world(clusters), request()).winner).toBe(winner);
  });

  test("of two with the same score, the one that has lent less", () => {
    const clusters = [cluster("a"), cluster("b", { allocated: amounts(4, 8) })];
    const reserved = new Map([["a", [amounts(4, 8)]]]);
    expect(decideByRules(world(clusters, { reserved }), request()).winner).toBe("b");
  });
});
