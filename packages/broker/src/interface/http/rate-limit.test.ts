import { expect, test } from "vitest";
import { RateLimit } from "./authorize.ts";

/** So many buckets make it look for those that can go. */
const MANY = 4096;

test("with many clusters those that are quiet are forgotten, and a busy one is not given a new burst", () => {
  const limit = new RateLimit({ perSecond: 1, burst: 2 });
  for (let cluster = 1; cluster < MANY; cluster++) limit.take(`quiet-${cluster}`, 0);
  // The quiet ones are full again by now; the busy one has just used up what it has.
  const now = 10_000;
  for (let call = 0; call < 2; call++) expect(limit.take("busy", now)).toBe(0);
  expect(limit.take("busy", now)).toBe(1000);
  expect(limit.take("new", now)).toBe(0);
  expect(limit.size).toBe(2);
  expect(limit.take("busy", now)).toBe(1000);
  expect(limit.take("busy", now + 1000)).toBe(0);
});

test("what is not full again yet stays, however many there are", () => {
  const limit = new RateLimit({ perSecond: 1, burst: 2 });
  const busy = Array.from({ length: 2 * MANY }, (_, cluster) => `busy-${cluster}`);
  for (const cluster of busy) for (let call = 0; call < 2; call++) limit.take(cluster, 0);
  expect(busy.filter((cluster) => limit.take(cluster, 500) === 0)).toEqual([]);
});
