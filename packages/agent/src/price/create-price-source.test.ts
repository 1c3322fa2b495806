import { parseSettings } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { createPriceSource } from "./create-price-source.ts";
import { PRICE_SETTINGS, type PriceOrigin, type PriceSettings, priceChoice } from "./price-settings.ts";

function settingsOf(argv: readonly string[]): PriceSettings {
  const result = parseSettings(PRICE_SETTINGS, { argv, env: {}, envPrefix: "AGENT_" });
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.values;
}

const COST = { cpuCost: "0.04", memoryCost: "0.005", currency: "EUR" };
const FLAGS = ["--price-cpu=0.04", "--price-memory=0.005", "--price-currency=EUR"];

describe("where prices come from", () => {
  const places: readonly { readonly argv: readonly string[]; readonly place: PriceOrigin }[] = [
    { argv: [], place: { kind: "none" } },
    { argv: FLAGS, place: { kind: "flags", cost: COST } },
    {
      argv: [...FLAGS, "--price-gpu=2", "--price-storage=0.0002"],
      place: { kind: "flags", cost: { ...COST, gpuCost: "2", storageCost: "0.0002" } },
    },
    {
      argv: ["--price-configmap=sharing/prices"],
      place: { kind: "configmap", namespace: "sharing", name: "prices" },
    },
    { argv: ["--price-sheet=/p.json", "--price-currency=USD"], place: { kind: "sheet", path: "/p.json" } },
  ];
  test.each(places)("is read from $argv", ({ argv, place }) => {
    expect(priceChoice(settingsOf(argv))).toEqual({ origin: place, problems: [] });
  });

  const deps = {
    client: {} as KubeClient,
    clock: fakeClock(),
    random: () => 0,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  };

  test("may be the flags, or nowhere", async () => {
    const priced = createPriceSource(settingsOf(FLAGS), deps);
    await priced.start();
    expect(priced.current()).toEqual(COST);
    expect(createPriceSource(settingsOf([]), deps).current()).toBeUndefined();
  });

  test("may be a file, which must be there", async () => {
    const source = createPriceSource(settingsOf(["--price-sheet=/not/there.json"]), deps);
    await expect(source.start()).rejects.toMatchObject({ code: "invalid" });
  });
});
