import type { DecisionDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { decisionUpdate } from "./decision-update.ts";

type Candidate = DecisionDTO["candidates"][number];

const PARIS: Candidate = {
  clusterID: "paris",
  score: 0.853,
  parts: { resources: 0.79, cost: 1 },
  price: "0.16239738",
};
const BERLIN: Candidate = {
  clusterID: "berlin",
  score: 0.591,
  parts: { resources: 0.5, cost: 0.8 },
  price: "0.2",
};
const ROME: Candidate = { clusterID: "rome", reason: "self", message: "is the requester itself" };
const TOKYO: Candidate = { clusterID: "tokyo", reason: "capacity", message: "needs 2 more GPU" };

function decisionOf(candidates: readonly Candidate[], more: Partial<DecisionDTO> = {}): DecisionDTO {
  return {
    id: "dec-1",
    at: "2026-07-01T10:00:00Z",
    requesterID: "rome",
    request: { requestedResources: { cpu: "4", memory: "8Gi" } },
    policyVersion: "default",
    weights: { resources: 0.7, cost: 0.3 },
    currency: "EUR",
    considered: candidates.length,
    fitted: candidates.filter(({ score }) => score !== undefined).length,
    counts: {},
    candidates,
    explanation: "The outcome.\n  and the rest",
    ...more,
  };
}

test.each([
  {
    name: "a winner that is better in all parts",
    decision: decisionOf([PARIS, BERLIN, ROME], { winner: "paris" }),
    why: "more room left and cheaper than berlin (0.85 to 0.59); 2 of 3 fit",
  },
  {
    name: "a winner that is better in one part",
    decision: decisionOf([PARIS, { ...BERLIN, parts: { resources: 0.9, cost: 0.1 } }], { winner: "paris" }),
    why: "cheaper than berlin (0.85 to 0.59); 2 of 2 fit",
  },
  {
    name: "a winner by a scorer nobody here knows",
    decision: decisionOf([{ ...PARIS, parts: { latency: 1 } }, BERLIN], { winner: "paris" }),
    why: "better latency than berlin (0.85 to 0.59); 2 of 2 fit",
  },
  {
    name: "a winner by a tie",
    decision: decisionOf([PARIS, { ...PARIS, clusterID: "berlin" }], { winner: "paris" }),
    why: "ranks higher than berlin (0.85 to 0.85); 2 of 2 fit",
  },
  {
    name: "the only one that fits",
    decision: decisionOf([PARIS, ROME, TOKYO], { winner: "paris" }),
    why: "the only one of 3 that fits: tokyo needs 2 more GPU",
  },
  {
    name: "nobody",
    decision: decisionOf([ROME, TOKYO], { flip: "Would fit tokyo with 4 GPU instead of 6." }),
    why: "Would fit tokyo with 4 GPU instead of 6. tokyo needs 2 more GPU",
  },
])("$name is explained", ({ decision, why }) => {
  expect(decisionUpdate(decision)).toMatchObject({ headline: "The outcome.", why });
});

test("the price is the winner's, short enough to read", () => {
  expect(decisionUpdate(decisionOf([PARIS, BERLIN], { winner: "paris" })).price).toBe("0.1624 EUR/h");
  expect(decisionUpdate(decisionOf([TOKYO])).price).toBeUndefined();
});
