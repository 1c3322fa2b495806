import fc from "fast-check";
import { expect, test } from "vitest";
import { mergePatch } from "./merge-patch.ts";

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

test("the difference makes what is wanted of whatever is there", () => {
  fc.assert(
    fc.property(fields, fields, (there, wanted) => {
      const patch = mergePatch(there, wanted);
      expect(merge(there, patch ?? {})).toEqual(wanted);
      expect(mergePatch(wanted, wanted)).toBeUndefined();
    }),
  );
});
