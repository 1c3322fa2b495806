import { describe, expect, test } from "vitest";
import { DEFAULT_POLICY } from "../scheduling/policy.ts";
import { type Size, size } from "../testing/builders.ts";
import { HOUR_MS, MINUTE_MS } from "../testing/world.ts";
import type { CostModel } from "./cost-model.ts";
import { hourlyPrice, priceQueryFor, totalPrice } from "./price.ts";

/** Monday, 5 January 2026, 00:00 UTC. */
const MONDAY = Date.UTC(2026, 0, 5);
const PRICES = { ...DEFAULT_POLICY.prices, rates: { USD: 0.9 } };
const BASE: CostModel = {
  currency: "EUR",
  onDemand: { cpuHour: 0.04, memoryGbHour: 0.005, gpuHour: 2, extendedHour: { "amd.com/gpu": 1.5 } },
};

function price(
  resources: Parameters<typeof size>[0],
  model: Partial<CostModel>,
  at = MONDAY,
  tier: "on-demand" | "spot" = "on-demand",
) {
  return hourlyPrice(priceQueryFor(size(resources), { tier, at, prices: PRICES }), { ...BASE, ...model });
}

describe("an hourly price", () => {
  test("adds CPU-hours, GPU-hours and gigabyte-hours of ten to the nine bytes", () => {
    expect(price({ cpu: 2, memoryGi: 8, gpu: 1 }, {})).toBeCloseTo(
      2 * 0.04 + ((8 * 2 ** 30) / 1e9) * 0.005 + 2,
      12,
    );
  });

  test("covers extended resources by name", () => {
    expect(price({ extended: { "amd.com/gpu": 2 } }, {})).toBe(3);
  });

  const unpriced: readonly { name: string; wanted: Size; model: Partial<CostModel> }[] = [
    { name: "storage", wanted: { cpu: 1, storageGi: 1 }, model: {} },
    { name: "an extended resource", wanted: { extended: { "example.com/fpga": 1 } }, model: {} },
    {
      name: "an extended resource called like a method",
      wanted: { extended: { constructor: 1 } },
      model: {},
    },
    {
      name: "a number that counts (its price is endless)",
      wanted: { cpu: 100 },
      model: { onDemand: { cpuHour: 1e308 } },
    },
    { name: "a price above nothing", wanted: { cpu: 1 }, model: { onDemand: { cpuHour: -1 } } },
    { name: "its currency", wanted: { cpu: 1 }, model: { currency: "JPY" } },
    { name: "a currency called like a method", wanted: { cpu: 1 }, model: { currency: "toString" } },
  ];
  test.each(unpriced)("is unknown without a price for $name", ({ wanted, model }) => {
    expect(price(wanted, model)).toBeNaN();
  });

  test("is converted to the policy's currency", () => {
    expect(price({ cpu: 1 }, { currency: "USD" })).toBeCloseTo(0.036, 12);
  });

  test("uses the spot tier where it names a price, and on-demand elsewhere", () => {
    const model = { spot: { cpuHour: 0.01 } };
    expect(price({ cpu: 1, gpu: 1 }, model, MONDAY, "spot")).toBeCloseTo(2.01, 12);
    expect(price({ cpu: 1, gpu: 1 }, model)).toBeCloseTo(2.04, 12);
    const extended = { spot: { extendedHour: { "example.com/fpga": 0.5 } } };
    expect(price({ extended: { "amd.com/gpu": 2, "example.com/fpga": 2 } }, extended, MONDAY, "spot")).toBe(
      4,
    );
  });

  const night = { name: "night", fromMinute: 22 * 60, toMinute: 6 * 60, multiplier: 0.5 };
  const mondayNight = { ...night, days: [1] };
  const workday = {
    name: "peak",
    days: [1, 2, 3, 4, 5],
    fromMinute: 8 * 60,
    toMinute: 18 * 60,
    multiplier: 2,
  };
  test.each([
    ["before the peak", workday, MONDAY + 8 * HOUR_MS - 1, 1],
    ["at the first minute of the peak", workday, MONDAY + 8 * HOUR_MS, 2],
    ["in the last minute of the peak", workday, MONDAY + 18 * HOUR_MS - MINUTE_MS, 2],
    ["when the peak is over", workday, MONDAY + 18 * HOUR_MS, 1],
    ["at the same hour on Sunday", workday, MONDAY - 12 * HOUR_MS, 1],
    ["at night before midnight", night, MONDAY + 23 * HOUR_MS, 0.5],
    ["at night after midnight", night, MONDAY + 5 * HOUR_MS, 0.5],
    ["at noon, outside the night", night, MONDAY + 12 * HOUR_MS, 1],
    ["early on Tuesday, still Monday's night", mondayNight, MONDAY + 26 * HOUR_MS, 0.5],
    ["early on Monday, Sunday's night", mondayNight, MONDAY + 2 * HOUR_MS, 1],
  ])("%s is multiplied by the window's factor", (_, window, at, factor) => {
    expect(price({ cpu: 100 }, { windows: [window] }, at)).toBeCloseTo(4 * factor, 12);
  });
});

test("a total is price times duration", () => {
  expect(totalPrice(2.5, 90 * MINUTE_MS)).toBe(3.75);
});
