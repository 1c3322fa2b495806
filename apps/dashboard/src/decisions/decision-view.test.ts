import type { DecisionDTO } from "@resource-broker/contract";
import { expect, test } from "vitest";
import { decisionView, reasonTitle, requestOptionsText } from "./decision-view.ts";

const DECISION: DecisionDTO = {
  id: "dec-1",
  at: "2026-07-01T10:00:00Z",
  requesterID: "rome",
  request: { requestedResources: { cpu: "4", memory: "8Gi" }, duration: "1h" },
  policyVersion: "default",
  weights: { resources: 0.7, cost: 0.3, latency: 0 },
  currency: "EUR",
  winner: "paris",
  considered: 3,
  fitted: 2,
  counts: { capacity: 1 },
  candidates: [
    { clusterID: "paris", score: 0.71, parts: { resources: 0.62, cost: 0.92 }, price: "0.336" },
    { clusterID: "oslo", score: 0.5, parts: { resources: 0.5, cost: 0.5 } },
    {
      clusterID: "milan",
      reason: "capacity",
      message: "needs 3 more CPU",
      missing: { cpu: "3" },
      alsoRefusedBy: ["stale"],
    },
  ],
  flip: "oslo would win below 0.2 EUR/h.",
  explanation: "…",
};

test("candidates are ranked with the parts of their score, which sum up to it", () => {
  const { fitted, headline, scorers } = decisionView(DECISION);
  expect(headline).toBe("paris wins: 2 of 3 clusters fitted");
  expect(fitted.map(({ id, rank, isWinner }) => [id, rank, isWinner])).toEqual([
    ["paris", 1, true],
    ["oslo", 2, false],
  ]);
  expect(fitted[0]?.parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(0.71);
  expect(fitted.map(({ price }) => price)).toEqual(["€0.336", null]);
  expect(scorers).toEqual([
    { name: "resources", weight: "70 %" },
    { name: "cost", weight: "30 %" },
  ]);
});

test("those passed over say why and what they lack", () => {
  expect(decisionView(DECISION).refused).toEqual([
    {
      id: "milan",
      reason: "not enough capacity",
      message: "needs 3 more CPU",
      missing: "3\u00a0CPU",
      also: "no recent advertisement",
    },
  ]);
});

test("a refusal has no winner, and tells how many are not shown", () => {
  const { winner: _, ...rest } = DECISION;
  const view = decisionView({ ...rest, considered: 500, fitted: 0, candidates: [] });
  expect(view).toMatchObject({
    isGranted: false,
    headline: "No provider for rome: 0 of 500 clusters fitted",
    passedOver: 500,
    left: 500,
  });
});

test("an unknown reason of a newer broker is shown as it is", () => {
  expect(reasonTitle("gravity")).toBe("gravity");
});

test("the options of a request read as a sentence", () => {
  const request = { ...DECISION.request, constraints: { regions: ["eu-west"], labels: { tier: "gold" } } };
  expect(requestOptionsText({ request })).toEqual(["for 1h", "in eu-west", "tier=gold"]);
});
