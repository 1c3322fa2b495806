import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diffObjects, mergePatch } from "./diff.ts";

describe("the difference between a desired and a current object", () => {
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

type Fields = { readonly [name: string]: string | Fields };

/** RFC 7386. */
function merge(there: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null) return patch;
  const result: Record<string, unknown> = typeof there === "object" && there !== null ? { ...there } : {};
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) delete result[name];
    else result[name] = merge(result[name], part);
  }
  return result;
}

const fields = fc.letrec<{ fields: Fields; value: string | Fields }>((tie) => ({
  fields: fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
  value: fc.oneof({ maxDepth: 2 }, fc.constantFrom("1", "2"), tie("fields")),
})).fields;

test("a merge patch turns the current value into the desired one", () => {
  fc.assert(
    fc.property(fields, fields, (there, wanted) => {
      const patch = mergePatch(there, wanted);
      expect(merge(there, patch ?? {})).toEqual(wanted);
      expect(mergePatch(wanted, wanted)).toBeUndefined();
    }),
  );
});
