import { type ResourceVector, resourceVector } from "@resource-broker/base";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addTimes, addTotal, readTotal, runningTotal } from "./running-total.ts";

const amount = fc.oneof(fc.integer({ min: 0, max: 10 }), fc.maxSafeNat());
const vector: fc.Arbitrary<ResourceVector> = fc
  .record({ cpuMillis: amount, memoryBytes: amount, storageBytes: amount, gpus: amount, fpga: amount })
  .map(({ fpga, ...rest }) => resourceVector({ ...rest, extended: { "example.com/fpga": fpga } }));

const exactMemory = (vectors: readonly ResourceVector[]): number => {
  const sum = vectors.reduce((total, { memoryBytes }) => total + BigInt(memoryBytes), 0n);
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(sum > most ? most : sum);
};

describe("a running total", () => {
  it("gives back exactly what was added, however large it grew in between", () => {
    fc.assert(
      fc.property(fc.array(vector), fc.array(vector), (kept, passing) => {
        const total = runningTotal();
        for (const each of [...kept, ...passing]) addTimes(total, each, 1);
        for (const each of passing) addTimes(total, each, -1);
        const expected = runningTotal();
        for (const each of kept) addTimes(expected, each, 1);
        expect(readTotal(total)).toEqual(readTotal(expected));
        expect(readTotal(total).memoryBytes).toBe(exactMemory(kept));
      }),
    );
  });

  it("adds and takes away other totals as if their vectors came one by one", () => {
    fc.assert(
      fc.property(fc.array(vector), fc.array(vector), (first, second) => {
        const [all, a, b] = [runningTotal(), runningTotal(), runningTotal()];
        for (const each of first) addTimes(a, each, 1);
        for (const each of second) addTimes(b, each, 1);
        addTotal(all, a, 1);
        addTotal(all, b, 1);
        addTotal(all, a, -1);
        expect(readTotal(all)).toEqual(readTotal(b));
      }),
    );
  });
});
