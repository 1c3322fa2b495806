import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  add,
  amountOf,
  atLeastZero,
  equals,
  fits,
  isCountable,
  isZero,
  larger,
  NO_RESOURCES,
  type ResourceVector,
  resourceNames,
  resourceVector,
  shortage,
  subtract,
} from "./resource-vector.ts";

/** As JSON.parse makes it: `__proto__` is an ordinary key. */
function extended(json: string): ResourceVector {
  return resourceVector({ extended: JSON.parse(json) as Record<string, number> });
}

const small = resourceVector({ cpuMillis: 500, memoryBytes: 1024, extended: { "amd.com/gpu": 1 } });
const big = resourceVector({ cpuMillis: 4000, memoryBytes: 512, gpus: 2, extended: { "a.example/fpga": 3 } });

describe("arithmetic goes resource by resource", () => {
  it.each([
    ["adds", add, [4500, 1536, 0, 2, 1, 3]],
    ["subtracts, also below zero,", subtract, [-3500, 512, 0, -2, 1, -3]],
    ["takes the larger", larger, [4000, 1024, 0, 2, 1, 3]],
  ])("%s", (_, operation, [cpuMillis, memoryBytes, storageBytes, gpus, amd, fpga]) => {
    const extended = { "amd.com/gpu": amd, "a.example/fpga": fpga };
    expect(operation(small, big)).toEqual({ cpuMillis, memoryBytes, storageBytes, gpus, extended });
  });

  it("leaves out extended resources that come to zero", () => {
    expect(Object.keys(subtract(small, small).extended)).toEqual([]);
    expect(Object.keys(resourceVector({ extended: { "amd.com/gpu": 0 } }).extended)).toEqual([]);
  });
});

describe("a request fits", () => {
  const offer = resourceVector({
    cpuMillis: 4000,
    memoryBytes: 8000,
    storageBytes: 100,
    gpus: 2,
    extended: { "amd.com/gpu": 1 },
  });
  const rows: readonly { name: string; request: Partial<ResourceVector>; fits: boolean }[] = [
    { name: "when it asks for nothing", request: {}, fits: true },
    { name: "when it takes exactly what there is", request: offer, fits: true },
    { name: "not with a thousandth of a CPU too much", request: { cpuMillis: 4001 }, fits: false },
    { name: "not with a byte of memory too much", request: { memoryBytes: 8001 }, fits: false },
    { name: "not with a byte of storage too much", request: { storageBytes: 101 }, fits: false },
    { name: "not with a GPU too many", request: { gpus: 3 }, fits: false },
    {
      name: "not with an extended resource too many",
      request: { extended: { "amd.com/gpu": 2 } },
      fits: false,
    },
    { name: "not with an unknown resource", request: { extended: { "a.example/fpga": 1 } }, fits: false },
  ];
  it.each(rows)("$name", ({ request, fits: expected }) => {
    expect(fits(resourceVector(request), offer)).toBe(expected);
  });
});

describe("a shortage", () => {
  const amounts = fc.integer({ min: -5, max: 5 });
  const vector = fc
    .record({
      cpuMillis: amounts,
      memoryBytes: amounts,
      storageBytes: amounts,
      gpus: amounts,
      extended: fc.dictionary(fc.constantFrom("amd.com/gpu", "a.example/fpga", "__proto__", "gpu"), amounts),
    })
    .map(resourceVector);

  it("is zero exactly when the request fits", () => {
    fc.assert(
      fc.property(vector, vector, (request, offer) => {
        expect(isZero(shortage(request, offer))).toBe(fits(request, offer));
      }),
      { numRuns: 1000 },
    );
  });

  it("added to the offer makes the request fit", () => {
    fc.assert(
      fc.property(vector, vector, (request, offer) => {
        expect(fits(request, add(atLeastZero(offer), shortage(request, offer)))).toBe(true);
      }),
    );
  });

  it("leaves sums and differences each other's inverse", () => {
    fc.assert(
      fc.property(vector, vector, (a, b) => {
        expect(equals(subtract(add(a, b), b), a)).toBe(true);
      }),
    );
  });
});

describe("names and amounts", () => {
  it("names what there is, in a fixed order", () => {
    const vector = resourceVector({
      extended: { "b.example/y": 1, "a.example/x": 2 },
      gpus: 1,
      storageBytes: 1,
      memoryBytes: 1,
      cpuMillis: 1,
    });
    expect(resourceNames(vector)).toEqual(["cpu", "memory", "storage", "gpu", "a.example/x", "b.example/y"]);
    expect(resourceNames(resourceVector({ gpus: 1 }))).toEqual(["gpu"]);
  });

  it("reports the amount of each, zero when it is not mentioned", () => {
    const vector = resourceVector({
      cpuMillis: 1,
      memoryBytes: 2,
      storageBytes: 3,
      gpus: 4,
      extended: { "a.b/c": 5 },
    });
    const names = ["cpu", "memory", "storage", "gpu", "a.b/c", "a.b/d"];
    expect(names.map((name) => amountOf(vector, name))).toEqual([1, 2, 3, 4, 5, 0]);
  });

  it("is safe while every amount is a whole number below 2^53", () => {
    expect(isCountable(NO_RESOURCES)).toBe(true);
    expect(isCountable(resourceVector({ memoryBytes: Number.MAX_SAFE_INTEGER }))).toBe(true);
    expect(isCountable(resourceVector({ memoryBytes: 2 ** 53 }))).toBe(false);
    expect(isCountable(resourceVector({ cpuMillis: 0.5 }))).toBe(false);
    expect(isCountable(resourceVector({ gpus: Number.NaN }))).toBe(false);
    expect(isCountable(resourceVector({ extended: { "a.b/c": 2 ** 53 } }))).toBe(false);
  });
});

describe("a resource called like a part of every object is plain data", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("%s", (name) => {
    const three = extended(`{ ${JSON.stringify(name)}: 3 }`);
    const one = extended(`{ ${JSON.stringify(name)}: 1 }`);
    expect(amountOf(NO_RESOURCES, name)).toBe(0);
    expect(amountOf(three, name)).toBe(3);
    expect(amountOf(add(three, one), name)).toBe(4);
    expect(amountOf(subtract(three, one), name)).toBe(2);
    expect(resourceNames(add(three, one))).toEqual([name]);
    expect(fits(three, NO_RESOURCES)).toBe(false);
    expect(fits(three, one)).toBe(false);
    expect(fits(one, three)).toBe(true);
    expect(amountOf(shortage(three, one), name)).toBe(2);
    expect(equals(three, three)).toBe(true);
    expect(equals(three, NO_RESOURCES)).toBe(false);
  });
});
