import { describe, expect, test } from "vitest";
import { backoff } from "./backoff.ts";

/** The largest pauses that the dice can bring are the bounds. */
const always = (value: number) => () => value;
const ALMOST_ONE = 1 - Number.EPSILON;

describe("a back-off", () => {
  test("doubles its bound from 100 ms up to the largest", () => {
    const pauses = backoff({ maxMs: 5000 }, { random: always(ALMOST_ONE), monotonicMs: () => 0 });
    const bounds = Array.from({ length: 9 }, () => pauses.failed() + 1);
    expect(bounds).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
  });

  test.each([
    ["goes on where it was when things worked for a moment only", 9999, 800],
    ["begins small again after things worked for long", 10_000, 100],
  ])("%s", (_, workedMs, bound) => {
    let now = 0;
    const pauses = backoff({ maxMs: 5000 }, { random: always(ALMOST_ONE), monotonicMs: () => now });
    for (let failure = 0; failure < 3; failure++) pauses.failed();
    pauses.succeeded();
    now += workedMs;
    pauses.succeeded();
    expect(pauses.failed() + 1).toBe(bound);
  });
});
