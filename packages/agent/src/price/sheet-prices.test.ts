import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeClock, fakeClock } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { recordedLog } from "../testing/recorded-log.ts";
import { readPriceSheet, sheetPrices } from "./sheet-prices.ts";

const POLL_MS = 10_000;

async function sheetWith(content: string) {
  const folder = await mkdtemp(join(tmpdir(), "sheet-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, "prices.json");
  /** At once, as a careful person or Kubernetes does it. */
  const write = async (text: string): Promise<void> => {
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
  };
  await write(content);
  const time = fakeClock();
  const source = sheetPrices({ path, currency: "EUR" }, { clock: time, log: recordedLog() });
  onTestFinished(source.stop);
  let changes = 0;
  source.onChange(() => changes++);
  return { path, source, write, time, changes: () => changes };
}

/** Readings take their time: the newest must be given the time to end. */
const eventually = (time: FakeClock, check: () => void): Promise<void> =>
  vi.waitFor(
    async () => {
      await time.advance(POLL_MS);
      check();
    },
    { timeout: 20_000 },
  );

test("a sheet is read at start and again when it changes", async () => {
  const { source, write, time, changes } = await sheetWith('{"CPU": "1", "RAM": "0"}');
  expect(source.current()).toBeUndefined();
  await source.start();
  expect(source.current()).toEqual({ cpuCost: "1", memoryCost: "0", currency: "EUR" });
  await write('{"CPU": "2", "RAM": "0"}');
  await eventually(time, () => expect(source.current()).toMatchObject({ cpuCost: "2" }));
  expect(changes()).toBe(2);
});

test.each([
  { name: "that is not JSON", content: "CPU: 1", problem: "it is not JSON" },
  { name: "that is huge", content: " ".repeat(200_000), problem: "it is larger than 128 KiB" },
])("a sheet $name keeps the agent from starting", async ({ content, problem }) => {
  const { source, path } = await sheetWith(content);
  await expect(source.start()).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining(`--price-sheet ${path}: ${problem}`),
  });
});

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
