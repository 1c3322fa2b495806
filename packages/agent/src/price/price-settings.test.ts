import type { KubeClient } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { RIGHT, read, settingsOf } from "../settings/testing/read-settings.ts";
import { createPriceSource, type PriceOrigin, priceChoice } from "./price-settings.ts";

const COST = { cpuCost: "0.04", memoryCost: "0.005", currency: "EUR" };
const FLAGS = ["--price-cpu=0.04", "--price-memory=0.005", "--price-currency=EUR"];

describe("where prices come from", () => {
  test.each<[readonly string[], PriceOrigin]>([
    [[], { kind: "none" }],
    [
      [...FLAGS, "--price-gpu=2", "--price-storage=0.0002"],
      { kind: "flags", cost: { ...COST, gpuCost: "2", storageCost: "0.0002" } },
    ],
    [
      ["--price-configmap=sharing/prices"],
      { kind: "configmap", configMap: { namespace: "sharing", name: "prices" } },
    ],
    [["--price-sheet=/p.json", "--price-currency=USD"], { kind: "sheet", path: "/p.json" }],
  ])("is read from %s", async (argv, origin) => {
    expect(priceChoice(await settingsOf(argv))).toEqual({ origin, problems: [] });
  });

  const deps = {
    client: {} as KubeClient,
    clock: fakeClock(),
    random: () => 0,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };

  test("may be the flags, or nowhere, or a file, which must be there", async () => {
    const priced = createPriceSource(await settingsOf(FLAGS), deps);
    await priced.start();
    expect(priced.current()).toEqual(COST);
    expect(createPriceSource(await settingsOf([]), deps).current()).toBeUndefined();
    const sheet = createPriceSource(await settingsOf(["--price-sheet=/not/there.json"]), deps);
    await expect(sheet.start()).rejects.toMatchObject({ code: "invalid" });
  });
});

const NO_CURRENCY = "is not a currency code of three capital letters; write for example EUR";

describe("wrong settings are one line with the remedy", () => {
  test.each([
    ["--price-cpu=0.04", "prices by flag also need --price-memory and --price-currency"],
    [
      "--price-cpu=cheap --price-memory=1 --price-currency=EUR",
      '--price-cpu: "cheap" is not a decimal number of at most 12 digits before and after the point; write for example 0.042',
    ],
    ["--price-cpu=1 --price-memory=1 --price-currency=eur", `--price-currency: "eur" ${NO_CURRENCY}`],
    ["--price-sheet=/prices.json --price-currency=€", `--price-currency: "€" ${NO_CURRENCY}`],
    [
      "--price-currency=EUR",
      "--price-currency has no effect without prices: add --price-cpu and --price-memory, --price-configmap or --price-sheet",
    ],
    [
      "--price-cpu=1 --price-sheet=/prices.json",
      "--price-cpu and --price-sheet exclude each other: give prices in one place",
    ],
    [
      "--price-configmap=prices",
      '--price-configmap: "prices" does not name a ConfigMap: write namespace/name',
    ],
  ])("%s", async (flags, line) => {
    expect(await read([...RIGHT, ...flags.split(" ")])).toEqual({
      ok: false,
      problems: [line],
    });
  });
});
