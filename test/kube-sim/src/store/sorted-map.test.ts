import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortedMap } from "./sorted-map.ts";

const key = fc.integer({ min: 0, max: 400 }).map((number) => `k${number}`);
const step = fc.record({ key, isRemoval: fc.boolean(), value: fc.integer() });

describe("a sorted map", () => {
  it("holds what a map and a sort would, in every span", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 1500, size: "max" }), key, key, (steps, from, before) => {
        const tree = sortedMap<number>();
        const model = new Map<string, number>();
        for (const { key, isRemoval, value } of steps) {
          if (isRemoval) {
            tree.delete(key);
            model.delete(key);
          } else {
            tree.set(key, value);
            model.set(key, value);
          }
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        const within = sorted.filter(([name]) => name >= from && name < before);
        expect([...tree.range({ from: "" })]).toEqual(sorted);
        expect([...tree.range({ from, before })]).toEqual(within);
        expect(tree.count({ from, before })).toBe(within.length);
        expect(tree.count({ from: "" })).toBe(model.size);
        expect(tree.size()).toBe(model.size);
        for (const [name, value] of model) expect(tree.get(name)).toBe(value);
        expect(tree.get("k")).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it("keeps the order of keys that come in falling order, and of what is left of them", () => {
    const tree = sortedMap<number>();
    const names = Array.from({ length: 10_000 }, (_, index) => String(99_999 - index));
    for (const [index, name] of names.entries()) tree.set(name, index);
    for (const name of names.slice(0, 9_900)) tree.delete(name);
    expect([...tree.range({ from: "" })].map(([name]) => name)).toEqual(names.slice(9_900).sort());
    for (const name of names) tree.delete(name);
    expect([...tree.range({ from: "" })]).toEqual([]);
    tree.set("again", 1);
    expect(tree.get("again")).toBe(1);
  });
});
