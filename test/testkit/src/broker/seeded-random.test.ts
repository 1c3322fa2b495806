import { expect, test } from "vitest";
import { seededRandom } from "./seeded-random.ts";

function numbers(random: ReturnType<typeof seededRandom>): number[] {
  return Array.from({ length: 20 }, () => random.below(1000));
}

test("the same seed gives the same numbers, another one others", () => {
  expect(numbers(seededRandom(7))).toEqual(numbers(seededRandom(7)));
  expect(numbers(seededRandom(7))).not.toEqual(numbers(seededRandom(8)));
});

test("a fork does not depend on how often its parent was asked", () => {
  const [fresh, used] = [seededRandom(7), seededRandom(7)];
  numbers(used);
  expect(numbers(used.fork(1))).toEqual(numbers(fresh.fork(1)));
  expect(numbers(fresh.fork(1))).not.toEqual(numbers(fresh.fork(2)));
});

test("numbers stay within their bounds and reach all of them", () => {
  const random = seededRandom(1);
  const found = new Set(Array.from({ length: 500 }, () => random.between(3, 6)));
  expect([...found].sort((a, b) => a - b)).toEqual([3, 4, 5, 6]);
});

test("chances come about as often as they should", () => {
  const random = seededRandom(1);
  const hits = Array.from({ length: 10_000 }, () => random.chance(0.25)).filter(Boolean).length;
  expect(hits).toBeGreaterThan(2300);
  expect(hits).toBeLessThan(2700);
});
