import { expect, test } from "vitest";
import { unmetReason } from "./decision.ts";

test.each([
  { name: "most clusters had", refusedBy: { stale: 1, capacity: 2 }, reason: "capacity" },
  {
    name: "comes first in the order of the filters, of several that as many had",
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
