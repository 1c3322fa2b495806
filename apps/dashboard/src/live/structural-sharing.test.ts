import fc from "fast-check";
import { expect, test } from "vitest";
import { shareStructure } from "./live-answer.ts";

test("what did not change keeps its identity, though it moved", () => {
  const before = {
    rows: [
      { id: "a", at: { x: 1 } },
      { id: "b", at: { x: 2 } },
    ],
    total: 2,
  };
  const after = shareStructure(before, {
    rows: [
      { id: "b", at: { x: 2 } },
      { id: "a", at: { x: 9 } },
    ],
    total: 2,
  });
  expect(after.rows[0]).toBe(before.rows[1]);
  expect(after.rows[1]).not.toBe(before.rows[0]);
});

test("the result always equals the new value, and equal values are the old object", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      expect(shareStructure(before, after)).toEqual(after);
      expect(shareStructure(before, structuredClone(before))).toBe(before);
    }),
  );
});
