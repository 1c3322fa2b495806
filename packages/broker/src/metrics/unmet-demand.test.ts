import { expect, test } from "vitest";
import { UnmetDemand, unmetReason } from "./unmet-demand.ts";

const MINUTE = 60_000;

test("what could not be served counts for five minutes, and is then forgotten", () => {
  const unmet = new UnmetDemand(() => undefined);
  unmet.add("target", 0);
  unmet.add("target", 3 * MINUTE);
  unmet.add("quota", 3 * MINUTE);
  expect(unmet.count("target", 5 * MINUTE - 1)).toBe(2);
  expect(unmet.count("quota", 5 * MINUTE - 1)).toBe(1);
  expect(unmet.count("target", 5 * MINUTE)).toBe(1);
  expect(unmet.count("target", 8 * MINUTE)).toBe(0);
});

test.each([
  { name: "most clusters had", refusedBy: { stale: 1, capacity: 2 }, reason: "capacity" },
  {
    name: "is asked first, of several that as many had",
    refusedBy: { capacity: 2, stale: 2 },
    reason: "stale",
  },
  {
    name: "another cluster had, not the requester itself",
    refusedBy: { self: 3, capacity: 1 },
    reason: "capacity",
  },
  { name: "there is without any cluster", refusedBy: { self: 1 }, reason: "no-clusters" },
] as const)("a refused request counts under the reason that $name", ({ refusedBy, reason }) => {
  expect(unmetReason({ refusedBy })).toBe(reason);
});
