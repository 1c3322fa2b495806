import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatTime, parseTime } from "./time.ts";

const TEN = Date.UTC(2026, 6, 1, 10);

describe("parseTime", () => {
  test.each([
    ["2026-07-01T10:00:00Z", TEN],
    ["2026-07-01T10:00:00.1Z", TEN + 100],
    ["2026-07-01T10:00:00.123456789Z", TEN + 123],
    ["2026-07-01T10:00:00.999999999Z", TEN + 999],
    ["2026-07-01T12:00:00+02:00", TEN],
    ["2026-07-01T04:30:00.5-05:30", TEN + 500],
    ["2026-07-01T10:00:00-00:00", TEN],
    ["2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29)],
    ["0000-01-01T00:00:00Z", -62_167_219_200_000],
    ["0001-01-01T00:00:00Z", -62_135_596_800_000],
    ["9999-12-31T23:59:59Z", 253_402_300_799_000],
  ])("reads %s", (text, ms) => {
    expect(parseTime(text)).toBe(ms);
  });

  test.each([
    "",
    "now",
    "2026-07-01",
    "2026-07-01T10:00:00",
    "2026-07-01 10:00:00Z",
    "2026-07-01t10:00:00z",
    "2026-13-01T10:00:00Z",
    "2026-02-29T10:00:00Z",
    "2100-02-29T10:00:00Z",
    "2026-06-31T10:00:00Z",
    "2026-07-01T24:00:00Z",
    "2026-07-01T10:60:00Z",
    "2026-07-01T10:00:60Z",
    "2026-07-01T10:00:00.Z",
    "2026-07-01T10:00:00.1234567890Z",
    "2026-07-01T10:00:00+24:00",
    "2026-07-01T10:00:00+0200",
    "+002026-07-01T10:00:00Z",
    "２026-07-01T10:00:00Z",
  ])("refuses %j", (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  test("reads back what formatTime writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (ms) => {
        expect(parseTime(formatTime(ms))).toBe(ms);
      }),
    );
  });
});

test("formatTime stays within the years that peers can read", () => {
  expect(formatTime(Number.MAX_SAFE_INTEGER)).toBe("9999-12-31T23:59:59.999Z");
  expect(formatTime(-Number.MAX_SAFE_INTEGER)).toBe("0000-01-01T00:00:00.000Z");
});
