import { Fault } from "@resource-broker/base";
import type { ConfigMap, KubeClient } from "@resource-broker/kube";
import type { ListQuery, WatchEvent, WatchQuery } from "@resource-broker/kube/testing";
import { fakeClock, settle } from "@resource-broker/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
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
  const lines: string[] = [];
  const queries: (ListQuery | WatchQuery)[] = [];
  let listed = data;
  let version = 1;
  let refusal: Fault | undefined;
  const events: WatchEvent<ConfigMap>[] = [];
  let wake = (): void => undefined;

  const objectOf = (content: Record<string, string>): ConfigMap => ({
    metadata: { name: "prices", namespace: "sharing", resourceVersion: String(version) },
    data: content,
  });
  const push = (type: "MODIFIED" | "DELETED", content: Record<string, string>): Promise<void> => {
    version++;
    events.push({ type, object: objectOf(content), resourceVersion: String(version) });
    wake();
    return settle();
  };
  async function* watch(query: WatchQuery): AsyncGenerator<WatchEvent<ConfigMap>> {
    queries.push(query);
    query.onOpen?.();
    while (query.signal?.aborted !== true) {
      const event = events.shift();
      if (event !== undefined) yield event;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
          query.signal?.addEventListener("abort", () => resolve());
        });
    }
  }
  const client = {
    list: (_: unknown, query: ListQuery, each: (object: ConfigMap) => void) => {
      queries.push(query);
      if (refusal !== undefined) return Promise.reject(refusal);
      if (listed !== undefined) each(objectOf(listed));
      return Promise.resolve({ resourceVersion: String(version), count: listed === undefined ? 0 : 1 });
    },
    watch: (_: unknown, query: WatchQuery) => watch(query),
  } as unknown as KubeClient;
  const source = configMapPrices(
    { configMap: { namespace: "sharing", name: "prices" }, currency: "" },
    {
      client,
      clock: time,
      random: () => 0.5,
      log: {
        info: () => undefined,
        warn: (_, message) => void lines.push(message),
        error: (_, message) => void lines.push(message),
      },
    },
  );
  onTestFinished(source.stop);
  return {
    source,
    time,
    lines,
    queries,
    change: (content: Record<string, string>) => push("MODIFIED", content),
    remove: () => push("DELETED", {}),
    refuse: (fault: Fault | undefined) => {
      refusal = fault;
    },
    seed: (content: Record<string, string>) => {
      listed = content;
    },
  };
}

describe("prices from a ConfigMap", () => {
  test("are known at start; only this one object is asked for", async () => {
    const { source, queries } = cluster(FLAT);
    await source.start();
    expect(source.current()).toEqual(FLAT);
    const one = { namespace: "sharing", fieldSelector: "metadata.name=prices" };
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) expect(query).toMatchObject(one);
  });

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
    const { source, change, lines } = cluster(FLAT);
    await source.start();
    await change({ ...FLAT, cpuCost: "free" });
    await change({ ...FLAT, cpuCost: "free", gpuCost: "2.6" });
    expect(source.current()).toEqual(FLAT);
    expect(lines).toEqual(["prices cannot be read: the last valid prices stay in use"]);
    await change({ ...FLAT, gpuCost: "2.6" });
    expect(source.current()).toMatchObject({ gpuCost: "2.6" });
  });

  test("may be missing at start and come later", async () => {
    const { source, change, lines } = cluster();
    await source.start();
    expect(source.current()).toBeUndefined();
    expect(lines).toEqual(["the ConfigMap with the prices is not there: the cluster is not priced"]);
    await change(FLAT);
    expect(source.current()).toEqual(FLAT);
  });

  test("may be wrong at start", async () => {
    const { source, lines } = cluster({ cpuCost: "1" });
    await source.start();
    expect(source.current()).toBeUndefined();
    expect(lines).toEqual(["prices cannot be read: the cluster is not priced"]);
  });

  test("do not keep the agent from starting where they may not be read, and come when they may", async () => {
    const { source, time, refuse, seed } = cluster();
    refuse(new Fault("forbidden", "may not list configmaps"));
    const starting = source.start();
    await time.advance(5000);
    await starting;
    expect(source.current()).toBeUndefined();
    refuse(undefined);
    seed(FLAT);
    await time.advance(60_000);
    expect(source.current()).toEqual(FLAT);
  });

  test("end with the source, also before they were ever read", async () => {
    const { source, refuse } = cluster();
    refuse(new Fault("unreachable", "connection refused"));
    const starting = source.start();
    await settle();
    await source.stop();
    await expect(starting).resolves.toBeUndefined();
  });
});
