import { CONFIG_MAPS } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { liqoProvider } from "./liqo-provider.ts";
import { MINUTE_MS, providerTestEnvironment, withSlice } from "./testing/provider-test-environment.ts";

describe("without Liqo", () => {
  test("nothing of it is asked for, and its going is no trouble", async () => {
    const { cluster, time, provider, log } = await withSlice();
    provider.setPresent(false);
    await time.advance(1000);
    const before = cluster.calls.length;
    await time.advance(10 * MINUTE_MS);
    expect(cluster.calls).toHaveLength(before);
    provider.setPresent(true);
    await time.advance(1000);
    expect(cluster.calls.length).toBeGreaterThan(before);
    await provider.stop();
    expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  test("the agent hears of its identity when it appears and when it is gone", async () => {
    const { cluster, time, deps, installLiqo } = providerTestEnvironment();
    const heard: unknown[] = [];
    const onIdentity = () => void heard.push(provider.identity()?.clusterId);
    const provider = liqoProvider({ namespace: "liqo", isEnforcing: false }, { ...deps, onIdentity });
    installLiqo("liqo");
    await provider.start();
    expect(heard).toEqual(["paris-liqo"]);
    cluster.remove(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" });
    await time.advance(MINUTE_MS);
    expect(heard).toEqual(["paris-liqo", undefined]);
    await provider.stop();
  });
});
