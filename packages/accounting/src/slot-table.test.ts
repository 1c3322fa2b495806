import { describe, expect, it } from "vitest";
import { slotTable } from "./slot-table.ts";

interface Thing {
  readonly name: string;
  readonly number: number;
}

describe("numbered things", () => {
  it("are found by their number, and none has the number 0", () => {
    const things = slotTable<Thing>();
    const made = ["a", "b", "c"].map((name) => things.add((number) => ({ name, number })));
    expect(made.map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(made.map(({ number }) => things.get(number))).toEqual(made);
    expect(things.get(0)).toBeUndefined();
    expect(things.get(4)).toBeUndefined();
  });

  it("leave their number to the next one, and only once", () => {
    const things = slotTable<Thing>();
    for (const name of ["a", "b"]) things.add((number) => ({ name, number }));
    things.remove(1);
    things.remove(1);
    things.remove(0);
    things.remove(7);
    expect(things.get(1)).toBeUndefined();
    const numbers = ["c", "d"].map((name) => things.add((number) => ({ name, number })).number);
    expect(numbers).toEqual([1, 3]);
  });
});
