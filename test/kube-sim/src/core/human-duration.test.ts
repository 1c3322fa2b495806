import { expect, test } from "vitest";
import { ageOf, humanDuration } from "./human-duration.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

test.each([
  [-5 * SECOND, "<invalid>"],
  [-SECOND, "0s"],
  [0, "0s"],
  [119 * SECOND, "119s"],
  [2 * MINUTE, "2m"],
  [9 * MINUTE + 59 * SECOND, "9m59s"],
  [10 * MINUTE, "10m"],
  [179 * MINUTE, "179m"],
  [3 * HOUR, "3h"],
  [7 * HOUR + 30 * MINUTE, "7h30m"],
  [47 * HOUR, "47h"],
  [2 * DAY, "2d"],
  [7 * DAY + 23 * HOUR, "7d23h"],
  [8 * DAY, "8d"],
  [729 * DAY, "729d"],
  [2 * YEAR, "2y"],
  [3 * YEAR + 40 * DAY, "3y40d"],
  [9 * YEAR, "9y"],
])("%d milliseconds are shown as %s", (ms, shown) => {
  expect(humanDuration(ms)).toBe(shown);
});

test("a time that cannot be read has no age", () => {
  expect(ageOf("yesterday", 0)).toBe("<unknown>");
});
