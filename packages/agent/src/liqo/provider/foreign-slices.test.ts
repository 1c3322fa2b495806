import { describe, expect, test } from "vitest";
import { settingsOf } from "../../settings/testing/read-settings.ts";
import { openDataPlane } from "../liqo-data-plane.ts";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { SHADOW_PODS } from "../objects/offloading.ts";
import {
  acceptedWith,
  aReplica,
  aShadowPod,
  MINUTE_MS,
  providerTestEnvironment,
  ROME,
} from "./testing/provider-test-environment.ts";

describe("what is not ours", () => {
  const FOREIGN = aReplica({
    name: "mypool",
    spec: { class: "default" },
    status: acceptedWith({ cpu: "64" }),
  });
  const NAME = { name: "mypool", namespace: `liqo-tenant-${ROME}` };

  test("is left alone, whatever it takes", async () => {
    const { cluster, begin, time, writes, broker } = providerTestEnvironment();
    cluster.put(RESOURCE_SLICES, FOREIGN);
    cluster.put(SHADOW_PODS, aShadowPod("web-1", { slice: "mypool" }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toEqual([]);
    expect(broker.asked).toEqual([]);
  });

  test("is flagged and cordoned with --liqo-enforce, and its pods stay", async () => {
    const { cluster, begin, time, eventReasons, shadowPods } = providerTestEnvironment({ isEnforcing: true });
    cluster.put(RESOURCE_SLICES, FOREIGN);
    cluster.put(SHADOW_PODS, aShadowPod("web-1", { slice: "mypool" }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(cluster.find(RESOURCE_SLICES, NAME)?.metadata.annotations).toMatchObject({
      "liqo.io/cordon": "true",
      "rear.fluidos.eu/cordoned": "NotReserved",
    });
    expect(cluster.find(RESOURCE_SLICES, NAME)?.status).toEqual(FOREIGN.status);
    expect(eventReasons()).toEqual(["SliceFlagged"]);
    expect(shadowPods()).toEqual(["web-1"]);
  });

  test.each([
    [[], undefined],
    [["--liqo-enforce"], "true"],
  ])("is cordoned by the data plane of these flags: %j", async (flags, expected) => {
    const { cluster, time, deps, installLiqo } = providerTestEnvironment();
    const settings = await settingsOf(["--liqo-namespace=elsewhere", ...flags]);
    const dataPlane = openDataPlane(settings, { ...deps, clusterId: "paris", env: {} });
    const provider = dataPlane.createProvider(deps);
    installLiqo("elsewhere");
    cluster.put(RESOURCE_SLICES, FOREIGN);
    await provider.start();
    await time.advance(MINUTE_MS);
    expect(cluster.find(RESOURCE_SLICES, NAME)?.metadata.annotations?.["liqo.io/cordon"]).toBe(expected);
    await Promise.all([provider.stop(), dataPlane.stop()]);
  });

  test("nor are slices that this cluster sends to others", async () => {
    const { cluster, begin, time, writes } = providerTestEnvironment({ isEnforcing: true });
    const own = aReplica();
    const labels = { "liqo.io/replication": "true", "liqo.io/remoteID": "rome-liqo" };
    cluster.put(RESOURCE_SLICES, { ...own, metadata: { ...own.metadata, labels } });
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toEqual([]);
  });
});
