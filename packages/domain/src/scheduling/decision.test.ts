import { expect, test } from "vitest";
import { unmetReason } from "./decision.ts";

test.each([
  { name: "all clusters had", refusedBy: { capacity: 2 }, reason: "capacity" },
  {
    name: "stopped the one that came furthest, however many others had another",
    refusedBy: { target: 9, cordoned: 3, capacity: 1 },
    reason: "capacity",
  },
  {
    name: "stopped the one that has room, and whose price exceeds the budget",
    refusedBy: { capacity: 2, budget: 1 },
    reason: "budget",
  },
  {
    name: "another cluster had, not the requester itself",
    refusedBy: { self: 3, region: 1 },
    reason: "region",
  },
  { name: "there is without any cluster", refusedBy: { self: 1 }, reason: "no-clusters" },
] as const)("a refused request counts under the reason that $name", ({ refusedBy, reason }) => {
  expect(unmetReason({ refusedBy })).toBe(reason);
});
