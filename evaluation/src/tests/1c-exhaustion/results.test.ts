import { expect, test } from "vitest";
import type { Answer } from "../subject/calls.ts";
import { type Exhaustion, exhaustionFaults, expectedGrants, freeCpu, splitOf } from "./results.ts";

const FULL = ["a", "b"].map((clusterID) => ({ clusterID, reason: "capacity" }));
const grant = (provider: string, id: string): Answer => ({ status: 201, tookMs: 1, provider, id });
const refusal: Answer = { status: 409, tookMs: 1, reasons: FULL };
const right: Exhaustion = {
  name: "run",
  lenders: [
    { clusterId: "a", cpuMillis: 1200, memoryMi: 1024 },
    { clusterId: "b", cpuMillis: 4000, memoryMi: 300 },
  ],
  askers: 1,
  answers: [grant("a", "1"), grant("b", "2"), grant("a", "3"), refusal],
  afterRelease: [201, 409],
};

test("a provider has room for as many as the scarcer of its resources allows", () => {
  expect(expectedGrants(right)).toBe(3);
  expect(splitOf(right)).toEqual([2, 1]);
  expect(exhaustionFaults(right)).toEqual([]);
});

test("free CPU falls with each grant of that provider and with nothing else", () => {
  expect(freeCpu(right)).toEqual([
    { clusterId: "a", left: [1.2, 0.7, 0.7, 0.2, 0.2] },
    { clusterId: "b", left: [4, 4, 3.5, 3.5, 3.5] },
  ]);
});

test.each<[string, Partial<Exhaustion>, RegExp]>([
  [
    "a grant too few",
    { answers: [grant("a", "1"), grant("b", "2"), refusal] },
    /2 granted, there was room for 3/,
  ],
  [
    "a lender that lends what it has not",
    { answers: [grant("b", "1"), grant("b", "2"), grant("a", "3")] },
    /b lends more/,
  ],
  ["the same id twice", { answers: [grant("a", "1"), grant("b", "2"), grant("a", "1")] }, /the same id/],
  [
    "a refusal while there is room",
    { answers: [refusal, ...right.answers] },
    /1 refused while there was room/,
  ],
  [
    "an answer that is neither",
    { answers: [...right.answers, { status: 503, tookMs: 1 }] },
    /answered with 503/,
  ],
  [
    "a refusal that forgets a lender",
    { answers: [...right.answers, { ...refusal, reasons: FULL.slice(1) }] },
    /1 refusals do not say/,
  ],
  ["a release that frees nothing", { afterRelease: [409, 409] }, /got 409 and 409/],
])("%s is a fault", (_, change, problem) => {
  expect(exhaustionFaults({ ...right, ...change })).toEqual([expect.stringMatching(problem)]);
});
