import { expect, test } from "vitest";
import type { Answer } from "../subject/calls.ts";
import { contestFaults, levelFaults, levelOf, metricsOf, recount, recountFaults } from "./results.ts";

const granted = (tookMs: number): Answer => ({ status: 201, tookMs, id: "r", provider: "a" });

test("times are those of the grants, and of all rounds together", () => {
  const level = levelOf(2, [
    [granted(1), granted(3)],
    [granted(5), granted(7)],
  ]);
  expect(metricsOf(level)).toMatchObject({ simultaneous: 2, requests: 4, median: 4, low: 2.4, high: 5.6 });
  expect(levelFaults(level)).toEqual([]);
});

test("silence and refusals are counted and are faults", () => {
  const level = levelOf(3, [[granted(1), { status: 0, tookMs: 10_000 }, { status: 409, tookMs: 2 }]]);
  expect(metricsOf(level)).toMatchObject({ requests: 1, median: 1 });
  expect(levelFaults(level)).toEqual([
    "3 simultaneous: 1 requests without an answer",
    "3 simultaneous: 1 requests were refused though there was room",
  ]);
});

test("nothing granted is no figure", () => {
  expect(metricsOf(levelOf(1, [[{ status: 0, tookMs: 1 }]]))).toBeUndefined();
});

test.each([
  [50, []],
  [51, ["100 simultaneous for 50 places: 51 granted"]],
  [49, ["100 simultaneous for 50 places: 49 granted"]],
])("of 100 that ask for 50 places, %i were granted", (count, faults) => {
  expect(contestFaults({ simultaneous: 100, room: 50, granted: count, timeouts: 0 })).toEqual(faults);
});

const places = { taken: () => 1, roomOf: () => 2 };
const at = (id: string, targetClusterID: string) => ({ id, targetClusterID });

test.each([
  ["all is as it was said", ["1", "2"], [at("1", "a"), at("2", "a")], []],
  [
    "one was lost",
    ["1", "2"],
    [at("1", "a")],
    [/1 acknowledged reservations are not/, /2 were acknowledged, the ledger holds 1/],
  ],
  [
    "one lends more than it has",
    ["1", "2", "3"],
    [at("1", "a"), at("2", "a"), at("3", "a")],
    [/1 double bookings/],
  ],
  [
    "one id was given twice",
    ["1", "1"],
    [at("1", "a")],
    [/1 double bookings/, /2 were acknowledged, the ledger holds 1/],
  ],
  [
    "one was booked that nobody was told of",
    ["1"],
    [at("1", "a"), at("2", "b")],
    [/1 were acknowledged, the ledger holds 2/],
  ],
])("a second count finds that %s", (_, acknowledged, listed, problems) => {
  const faults = recountFaults(recount(acknowledged, listed, places));
  expect(faults).toHaveLength(problems.length);
  for (const [index, problem] of problems.entries()) expect(faults[index]).toMatch(problem);
});
