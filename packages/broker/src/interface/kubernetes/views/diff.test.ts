import { describe, expect, test } from "vitest";
import { diffObjects } from "./diff.ts";

describe("the gap between what is wanted and what is there", () => {
  test.each([
    { name: "nothing", wanted: { a: 1, b: { c: [1] } }, found: { b: { c: [1] }, a: 1 }, isBehind: false },
    { name: "a missing field", wanted: { a: 1, b: 2 }, found: { a: 1 }, isBehind: true },
    {
      name: "another value, deep inside",
      wanted: { b: { c: { d: 1 } } },
      found: { b: { c: { d: 2 } } },
      isBehind: true,
    },
    { name: "another order in a list", wanted: { a: [1, 2] }, found: { a: [2, 1] }, isBehind: true },
    {
      name: "another order of fields in a list",
      wanted: { a: [{ x: 1, y: 2 }] },
      found: { a: [{ y: 2, x: 1 }] },
      isBehind: false,
    },
    { name: "undefined and absent", wanted: { a: undefined }, found: {}, isBehind: false },
    {
      name: "a field too many",
      wanted: { a: 1 },
      found: { a: 1, z: 2 },
      isBehind: false,
      surplus: { z: null },
    },
    {
      name: "a field too many, deep inside",
      wanted: { b: { c: 1 } },
      found: { b: { c: 1, z: {} } },
      isBehind: false,
      surplus: { b: { z: null } },
    },
    { name: "an object where a value is wanted", wanted: { a: 1 }, found: { a: { b: 1 } }, isBehind: true },
  ])("is right for $name", ({ wanted, found, isBehind, surplus }) => {
    expect(diffObjects(wanted, found)).toEqual({ isOutdated: isBehind, removals: surplus });
  });
});
