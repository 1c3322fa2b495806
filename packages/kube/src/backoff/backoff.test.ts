import fc from "fast-check";
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

  test("waits for any part of its bound, also for none", () => {
    const pauses = backoff({ maxMs: 5000 }, { random: always(0), monotonicMs: () => 0 });
    expect([pauses.failed(), pauses.failed()]).toEqual([0, 0]);
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

  test("never waits longer than its bound, however often it fails", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: ALMOST_ONE, noNaN: true }), fc.nat(2000), (random, failures) => {
        const pauses = backoff({ maxMs: 5000 }, { random: always(random), monotonicMs: () => 0 });
        let pauseMs = 0;
        for (let failure = 0; failure <= failures; failure++) pauseMs = pauses.failed();
        expect(pauseMs).toBeGreaterThanOrEqual(0);
        expect(pauseMs).toBeLessThan(5000);
      }),
      { numRuns: 50 },
    );
  });
});
