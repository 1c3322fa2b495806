import { describe, expect, test } from "vitest";
import { readPriceSheet } from "./sheet-prices.ts";

/** As OpenCost ships it, with what else it has. */
const SHEET = {
  provider: "custom",
  description: "prices of the basement",
  CPU: "0.031611",
  spotCPU: "0.006655",
  RAM: "0.004237",
  spotRAM: "0.000892",
  GPU: "0.95",
  spotGPU: "0.308",
  storage: "0.00005479452",
  zoneNetworkEgress: "0.01",
  currencyCode: "USD",
};

describe("a sheet of OpenCost", () => {
  test("is read whole; prices of GiB become prices of GB", () => {
    expect(readPriceSheet(SHEET, "")).toEqual({
      ok: true,
      cost: {
        cpuCost: "0.031611",
        memoryCost: "0.003946013749",
        gpuCost: "0.95",
        storageCost: "0.000051031373",
        currency: "USD",
        spot: { cpuCost: "0.006655", memoryCost: "0.000830739737", gpuCost: "0.308" },
      },
    });
  });

  test("needs CPU and RAM only; empty text counts as absent, numbers as text", () => {
    const cost = { cpuCost: "1", memoryCost: "0.931322574615", currency: "EUR" };
    const empty = { CPU: 1, RAM: 1, GPU: "", spotCPU: "", spotRAM: null, currencyCode: "" };
    expect(readPriceSheet(empty, "EUR")).toEqual({ ok: true, cost });
  });

  test("wins with its own currency over the flag's", () => {
    expect(readPriceSheet(SHEET, "EUR")).toMatchObject({ cost: { currency: "USD" } });
  });

  test.each([
    ["no object", ["CPU"], "it must hold a JSON object with CPU and RAM"],
    ["nothing", null, "it must hold a JSON object with CPU and RAM"],
    ["no currency", { CPU: "1", RAM: "1" }, "it names no currencyCode: add one, or give --price-currency"],
    ["no memory", { CPU: "1", currencyCode: "EUR" }, "RAM: is required; write for example 0.005"],
    [
      "a spot price that is none",
      { ...SHEET, spotRAM: "-1" },
      'spotRAM: "-1" is not a decimal number of at most 12 digits before and after the point; write for example 0.002',
    ],
    [
      "a currency that is none",
      { ...SHEET, currencyCode: "usd" },
      'currencyCode: "usd" is not a currency code of three capital letters; write for example EUR',
    ],
  ])("with %s is refused in its own words", (_, sheet, problem) => {
    expect(readPriceSheet(sheet, "")).toEqual({ ok: false, problem });
  });
});
