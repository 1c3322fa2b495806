import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeAmount, describeResources } from "../resources/describe-resources.ts";
import { NO_RESOURCES, resourceVector } from "../resources/resource-vector.ts";
import { type AmountOptions, parseAmount } from "./amount.ts";
import { formatBytes, formatCount, formatCpu } from "./format-amount.ts";
import { formatQuantity, type QuantityFormat } from "./quantity.ts";

const Ki = 1024;
const Mi = 1024 * Ki;
const Gi = 1024 * Mi;

describe("amounts are printed in Kubernetes' canonical form", () => {
  const formatters: readonly {
    name: string;
    print: (amount: number) => string;
    unit: AmountOptions["unit"];
    format: QuantityFormat;
  }[] = [
    { name: "formatCpu", print: formatCpu, unit: "milli", format: "DecimalSI" },
    { name: "formatBytes", print: formatBytes, unit: "one", format: "BinarySI" },
    { name: "formatCount", print: formatCount, unit: "one", format: "DecimalSI" },
  ];
  const amount = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -5000, max: 5000 }),
    fc.tuple(fc.nat(2 ** 20), fc.nat(3)).map(([number, power]) => number * 1000 ** power),
    fc.tuple(fc.nat(2 ** 20), fc.nat(3)).map(([number, power]) => number * 1024 ** power),
  );

  it.each(formatters)("what $name prints reads back as the same amount", ({ print, unit }) => {
    fc.assert(
      fc.property(amount, (value) => {
        expect(parseAmount(print(value), { unit, rounding: "down" })).toEqual({ ok: true, amount: value });
      }),
    );
  });

  it.each(formatters)("$name prints what formatQuantity prints", ({ print, unit, format }) => {
    fc.assert(
      fc.property(amount, (value) => {
        const zeros = value === 0 ? 0 : (/0*$/.exec(String(value))?.[0].length ?? 0);
        const digits = BigInt(value) / 10n ** BigInt(zeros);
        const scale = value === 0 ? 0 : (unit === "milli" ? 3 : 0) - zeros;
        expect(print(value)).toBe(formatQuantity({ digits, scale, format }));
      }),
    );
  });
});

describe("amounts are described for people", () => {
  it.each([
    ["cpu", 1500, "1.5 CPU"],
    ["cpu", 4000, "4 CPU"],
    ["cpu", 1, "0.001 CPU"],
    ["cpu", 4_000_000, "4000 CPU"],
    ["memory", 8 * Gi, "8Gi Memory"],
    ["memory", 1536 * Mi, "1.5Gi Memory"],
    ["memory", 8_000_000_000, "7.45Gi Memory"],
    ["memory", 512 * Mi, "512Mi Memory"],
    ["memory", Gi - 1, "1Gi Memory"],
    ["memory", 500, "500B Memory"],
    ["memory", 0, "0B Memory"],
    ["memory", -2 * Gi, "-2Gi Memory"],
    ["memory", Number.MAX_SAFE_INTEGER, "8Pi Memory"],
    ["storage", 10 * Gi, "10Gi Storage"],
    ["gpu", 2, "2 GPU"],
    ["hugepages-2Mi", 64 * Mi, "64Mi HugePages-2Mi"],
    ["amd.com/gpu", 3, "3 amd.com/gpu"],
  ])("%s %i as %s", (resource, value, text) => {
    expect(describeAmount(resource, value)).toBe(text);
  });

  it("joins all resources of a vector", () => {
    expect(describeResources(resourceVector({ cpuMillis: 4000, memoryBytes: 8 * Gi, gpus: 2 }))).toBe(
      "4 CPU / 8Gi Memory / 2 GPU",
    );
    const rest = resourceVector({
      storageBytes: 10 * Gi,
      extended: { "amd.com/gpu": 3, "a.example/fpga": 1 },
    });
    expect(describeResources(rest)).toBe("10Gi Storage / 1 a.example/fpga / 3 amd.com/gpu");
  });

  it("says nothing of an empty vector in so many words", () => {
    expect(describeResources(NO_RESOURCES)).toBe("nothing");
  });
});
