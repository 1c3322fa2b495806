import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  // What Go's time.ParseDuration makes of each, rounded up to milliseconds.
  test.each([
    ["0", 0],
    ["+0", 0],
    ["0s", 0],
    ["1ms", 1],
    ["1s", 1_000],
    ["+5s", 5_000],
    ["90s", 90_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["1.h", 3_600_000],
    [".5s", 500],
    ["1h1m1s1ms", 3_661_001],
    ["1m1h", 3_660_000],
    ["1us", 1],
    ["1µs", 1],
    ["1μs", 1],
    ["1ns", 1],
    ["1000000ns", 1],
    ["1000001ns", 2],
    ["0.3333333333333333333h", 1_200_000],
    ["9007199254.740993ms", 9_007_199_255],
    ["2562047h47m16.854775807s", 9_223_372_036_855],
  ])("reads %s", (text, ms) => {
    expect(parseDuration(text)).toEqual({ ok: true, ms });
  });

  test.each([
    ["", "is not a duration"],
    ["5", "is not a duration"],
    ["s", "is not a duration"],
    [".s", "is not a duration"],
    ["5 minutes", "is not a duration"],
    ["1d", "is not a duration"],
    ["1H", "is not a duration"],
    ["1h ", "is not a duration"],
    ["1e3s", "is not a duration"],
    ["++1s", "is not a duration"],
    ["１h", "is not a duration"],
    ["1h".repeat(33), "is not a duration"],
    ["-1h", "is negative"],
    ["2562048h", "is too long"],
    [`${"9".repeat(60)}h`, "is too long"],
  ])("refuses %s", (text, why) => {
    expect(parseDuration(text)).toMatchObject({ ok: false, problem: expect.stringContaining(why) });
  });

  test("reads back what formatDuration writes", () => {
    fc.assert(
      fc.property(fc.nat({ max: 9_000_000_000_000 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toEqual({ ok: true, ms });
      }),
    );
  });
});

test.each([
  [0, "0s"],
  [1, "0.001s"],
  [1_500, "1.5s"],
  [120_000, "2m"],
  [5_400_000, "1h30m"],
  [604_800_000, "168h"],
])("formatDuration writes %d ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});
