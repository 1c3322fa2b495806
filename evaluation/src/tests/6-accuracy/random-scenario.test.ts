import { seededRandom } from "@resource-broker/testkit";
import { expect, test } from "vitest";
import { decideByRules } from "./oracle.ts";
import { randomClusters, randomRequest } from "./random-scenario.ts";

const PARTIES = { providers: ["a", "b", "c", "d", "e", "f"], requesters: ["rome"] };
const RULES = {
  weights: { resources: 0.7, cost: 0.3 },
  currency: "EUR",
  rates: { USD: 0.9 },
  denied: { a: ["rome"] },
};

function scenario(seed: number) {
  const random = seededRandom(seed);
  return { clusters: randomClusters(random, PARTIES.providers), request: randomRequest(random, PARTIES) };
}

test("the same seed makes the same scenario", () => {
  expect(scenario(5)).toEqual(scenario(5));
  expect(scenario(5)).not.toEqual(scenario(6));
});

test("every rule decides some of them, and neither grants nor refusals are rare", () => {
  const reasons = new Set<string>();
  let granted = 0;
  for (let seed = 0; seed < 300; seed++) {
    const { clusters, request } = scenario(seed);
    const { winner, refusals } = decideByRules({ clusters, reserved: new Map(), rules: RULES }, request);
    if (winner !== undefined) granted++;
    for (const each of refusals.values()) for (const reason of each) reasons.add(reason);
  }
  expect([...reasons].toSorted()).toEqual([
    "capacity",
    "cordoned",
    "excluded",
    "labels",
    "lending-policy",
    "node-shape",
    "region",
    "self",
    "target",
  ]);
  expect(granted).toBeGreaterThan(100);
  expect(granted).toBeLessThan(290);
});
