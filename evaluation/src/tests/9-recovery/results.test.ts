import { expect, test } from "vitest";
import { compareWithAcknowledged, type Recovery, recoveryFaults, stepOf } from "./results.ts";

test.each([
  ["all are there", ["1", "2"], ["1", "2"], 0, { lost: 0, strange: 0 }],
  ["one that was on its way is there, too", ["1", "2"], ["1", "2", "3"], 1, { lost: 0, strange: 0 }],
  ["one is missing", ["1", "2"], ["2"], 0, { lost: 1, strange: 0 }],
  ["one more than was asked for is there", ["1"], ["1", "2", "3"], 1, { lost: 0, strange: 1 }],
  ["one is there twice", ["1"], ["1", "1"], 0, { lost: 0, strange: 1 }],
])("after a kill %s", (_, acknowledged, listed, unanswered, expected) => {
  expect(compareWithAcknowledged(new Set(acknowledged), listed, unanswered)).toEqual(expected);
});

const recovery = (readyMs: number, more: Partial<Recovery> = {}): Recovery => ({
  reservations: 10,
  readyMs,
  firstGrantMs: readyMs + 5,
  unanswered: 0,
  lost: 0,
  strange: 0,
  ...more,
});

test("a step reports the median and the spread of its kills", () => {
  expect(stepOf(10, [recovery(300), recovery(100), recovery(200)])).toEqual({
    reservations: 10,
    kills: 3,
    readyMs: 200,
    readyLow: 100,
    readyHigh: 300,
    firstGrantMs: 205,
  });
  expect(stepOf(10, [])).toBeUndefined();
});

test("what was lost or made up is a fault", () => {
  expect(recoveryFaults([recovery(1), recovery(1, { lost: 2, strange: 1 })])).toEqual([
    "kill 2 at 10: 2 acknowledged reservations were lost",
    "kill 2 at 10: 1 reservations that nobody made",
  ]);
});
