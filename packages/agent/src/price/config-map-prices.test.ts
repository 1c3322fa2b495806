import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { configMapPrices, readConfigMapCost } from "./config-map-prices.ts";

const FLAT = { cpuCost: "0.04", memoryCost: "0.005", gpuCost: "2.5", currency: "EUR" };

describe("the data of a ConfigMap", () => {
  test("gives one price for each key", async () => {
    expect(await readConfigMapCost(FLAT, "")).toEqual({ ok: true, cost: FLAT });
  });

  test("takes the flag's currency where it names none", async () => {
    const { currency: _, ...prices } = FLAT;
    expect(await readConfigMapCost(prices, "CHF")).toMatchObject({ cost: { currency: "CHF" } });
    expect(await readConfigMapCost(FLAT, "CHF")).toMatchObject({ cost: { currency: "EUR" } });
  });

  const whole = {
    ...FLAT,
    spot: { cpuCost: "0.01" },
    windows: [{ name: "night", from: "22:00", to: "06:00", multiplier: 0.5 }],
  };
  test.each([
    ["cost.json", JSON.stringify(whole)],
    [
      "cost.yaml",
      `
      cpuCost: 0.04
      memoryCost: "0.005"
      gpuCost: 2.5
      currency: EUR
      spot: { cpuCost: "0.01" }
      windows:
        - { name: night, from: "22:00", to: "06:00", multiplier: 0.5 }
      `,
    ],
  ])("gives everything under %s", async (key, text) => {
    expect(await readConfigMapCost({ [key]: text }, "")).toEqual({ ok: true, cost: whole });
  });

  test.each([
    ["nothing", {}, "cpuCost: is required; write for example 0.042; memoryCost: is required; "],
    ["an unknown key", { ...FLAT, cpu: "1" }, "cpu: "],
    ["a price that is none", { ...FLAT, cpuCost: "free" }, 'cpuCost: "free" is not a decimal number'],
    [
      "prices in two forms",
      { "cost.json": "{}", cpuCost: "1" },
      "cost.json must be the only key: it holds all prices",
    ],
    ["broken YAML", { "cost.yaml": "a: [" }, "cost.yaml: it is not YAML: "],
    ["a list", { "cost.yaml": "- 1" }, 'cost.yaml must hold prices by name, such as cpuCost: "0.04"'],
    ["a whole that is wrong", { "cost.json": '{"cpuCost": "1"}' }, "cost.json: memoryCost: is required"],
    ["aliases", { "cost.yaml": "a: &x 1\nb: *x" }, "cost.yaml: it is not YAML: "],
  ])("with %s is refused", async (_, data, problem) => {
    const reading = await readConfigMapCost(data, "");
    expect(reading.ok ? "" : reading.problem).toContain(problem);
  });
});

/** A server with at most one ConfigMap. */
function cluster(data?: Record<string, string>) {
  const time = fakeClock();
  const server = fakeCluster(time);
  const log = recordedLog();
  const name = { name: "prices", namespace: "sharing" };
  const set = (content: Record<string, string>): void =>
    void (server.find(CONFIG_MAPS, name) === undefined
      ? server.put(CONFIG_MAPS, { metadata: name, data: content })
      : server.edit(CONFIG_MAPS, name, (object) => ({ ...object, data: content })));
  if (data !== undefined) set(data);
  const source = configMapPrices(
    { configMap: name, currency: "" },
    { client: server.client, clock: time, random: () => 0.5, log },
  );
  onTestFinished(source.stop);
  return {
    source,
    server,
    time,
    warnings: () =>
      log.lines.filter((line) => line.startsWith("warn")).map((line) => line.slice(5).split(" {")[0]),
    change: async (content: Record<string, string>): Promise<void> => {
      set(content);
      await settle();
    },
    remove: async (): Promise<void> => {
      server.remove(CONFIG_MAPS, name);
      await settle();
    },
  };
}

describe("prices from a ConfigMap", () => {
  test("change with it, and are gone with it", async () => {
    const { source, change, remove } = cluster(FLAT);
    const seen: (string | undefined)[] = [];
    source.onChange(() => seen.push(source.current()?.cpuCost));
    await source.start();
    await change({ ...FLAT, cpuCost: "0.05" });
    await change({ "cost.json": JSON.stringify({ ...FLAT, cpuCost: "0.06" }) });
    await remove();
    expect(seen).toEqual(["0.04", "0.05", "0.06", undefined]);
  });

  test("stay when it becomes wrong, which is reported once", async () => {
    const { source, change, warnings } = cluster(FLAT);
    await source.start();
    await change({ ...FLAT, cpuCost: "free" });
    await change({ ...FLAT, cpuCost: "free", gpuCost: "2.6" });
    expect(source.current()).toEqual(FLAT);
    expect(warnings()).toEqual(["prices cannot be read: the last valid prices stay in use"]);
    await change({ ...FLAT, gpuCost: "2.6" });
    expect(source.current()).toMatchObject({ gpuCost: "2.6" });
  });

  test("may be missing at start and come later", async () => {
    const { source, change, warnings } = cluster();
    await source.start();
    expect(source.current()).toBeUndefined();
    expect(warnings()).toEqual(["the ConfigMap with the prices is not there: the cluster is not priced"]);
    await change(FLAT);
    expect(source.current()).toEqual(FLAT);
  });

  test("do not keep the agent from starting where they may not be read, and come when they may", async () => {
    const { source, time, server } = cluster(FLAT);
    server.setCallFaults(() => ({ fault: new Fault("forbidden", "may not list configmaps") }));
    const starting = source.start();
    await time.advance(5000);
    await starting;
    expect(source.current()).toBeUndefined();
    server.setCallFaults(undefined);
    await time.advance(60_000);
    expect(source.current()).toEqual(FLAT);
  });
});
