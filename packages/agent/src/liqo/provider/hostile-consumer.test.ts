import { Fault } from "@resource-broker/base";
import { NAMESPACES } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES, type ResourceSlice } from "../objects/authentication.ts";
import { QUOTAS, SHADOW_PODS } from "../objects/offloading.ts";
import { END_GRACE_MS } from "./evaluate-replica.ts";
import {
  ASKED,
  acceptedWith,
  aProviderReservation,
  aQuota,
  aReplica,
  aShadowPod,
  cordonQuota,
  MALLORY,
  MINUTE_MS,
  OVER,
  providerTestEnvironment,
  ROME,
  ROMES,
  tenantNamespace,
  withSlice,
} from "./testing/provider-test-environment.ts";

describe("a hostile consumer", () => {
  test("cannot raise what it was given", async () => {
    const { cluster, time, find } = await withSlice();
    cluster.edit(RESOURCE_SLICES, ROMES, (slice) => ({
      ...slice,
      status: acceptedWith({ ...ASKED, cpu: "64" }),
    }));
    await time.advance(100);
    expect(find()?.status?.resources).toEqual(ASKED);
  });

  test("that asks for more afterwards keeps what it has", async () => {
    const { cluster, time, find, word, shadowPods } = await withSlice();
    cluster.edit(RESOURCE_SLICES, ROMES, (slice) => ({
      ...slice,
      spec: { ...slice.spec, resources: { ...ASKED, cpu: "64" } },
      status: acceptedWith({ ...ASKED, cpu: "64", "nvidia.com/gpu": "8" }),
    }));
    await time.advance(100);
    expect(word()).toBe("Accepted TooMuch");
    expect(find()?.status?.resources).toEqual(ASKED);
    expect(shadowPods()).toHaveLength(3);
  });

  test("gets nothing under another's id, and takes nothing from it", async () => {
    const { cluster, time, word, shadowPods } = await withSlice();
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY }));
    await time.advance(1000);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
    expect(shadowPods()).toHaveLength(3);
  });

  test("that accepts itself under another's id loses its own pods, and nobody else's", async () => {
    const made = await withSlice();
    const { cluster, time, word, cordon, shadowPods } = made;
    cluster.put(QUOTAS, aQuota(MALLORY));
    cluster.put(SHADOW_PODS, aShadowPod("miner", { tenant: MALLORY }));
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY, status: acceptedWith({ cpu: "64" }) }));
    await time.advance(3000);
    expect([cordon(ROME), cordon(MALLORY)]).toEqual([undefined, "true"]);
    expect(shadowPods()).toEqual(["web-1", "web-2", "web-3"]);
    expect(word(MALLORY)).toBe("Accepted Reserved");
    cordonQuota(made, MALLORY);
    await time.advance(3000);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
  });

  test("that pretends to be another cluster harms nobody but itself", async () => {
    const { cluster, time, word, cordon, shadowPods } = await withSlice();
    const status = acceptedWith({ cpu: "64" });
    const { metadata, ...quota } = aQuota(ROME);
    const namespace = `liqo-tenant-${MALLORY}`;
    cluster.put(QUOTAS, { ...quota, metadata: { ...metadata, namespace } });
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY, origin: ROME, status }));
    await time.advance(MINUTE_MS);
    expect(cluster.all(QUOTAS).map((each) => each.metadata.namespace)).toEqual([`liqo-tenant-${ROME}`]);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
    // A cordon would go to the Quota of the user it claims to be: rome's.
    expect([cordon(ROME), cordon(MALLORY)]).toEqual([undefined, undefined]);
    expect(shadowPods()).toHaveLength(3);
  });

  test("cannot stop the work on others by a replica that makes no sense or always fails", async () => {
    const { cluster, begin, time, word, cache } = providerTestEnvironment();
    cache.update("provider", aProviderReservation());
    const { spec: _, ...bare } = aReplica({ tenant: MALLORY });
    cluster.put(RESOURCE_SLICES, bare as ResourceSlice);
    cluster.put(NAMESPACES, tenantNamespace("oslo-liqo"));
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: "oslo-liqo" }));
    cluster.put(RESOURCE_SLICES, aReplica());
    cluster.setCallFaults(({ verb, name }) =>
      verb === "get" && name === "liqo-tenant-oslo-liqo"
        ? { fault: new Fault("internal", "it broke") }
        : undefined,
    );
    begin();
    await time.advance(1000);
    expect(word(ROME)).toBe("Accepted Reserved");
    cache.update("provider", OVER);
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    await time.advance(END_GRACE_MS + 2 * MINUTE_MS);
    expect(cluster.all(SHADOW_PODS)).toEqual([]);
  });

  test("that writes replicas outside of its namespace is denied", async () => {
    const { cluster, begin, time, word, cache } = providerTestEnvironment();
    cache.update("provider", aProviderReservation());
    cluster.remove(NAMESPACES, { name: `liqo-tenant-${ROME}` });
    cluster.put(NAMESPACES, { metadata: { name: `liqo-tenant-${ROME}` } });
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(1000);
    expect(word()).toBe("Denied WrongRequester");
  });

  test("that accepts itself without a reservation is cordoned at once, and cleared when the broker agrees", async () => {
    const { cluster, begin, time, word, cordon, shadowPods, broker } = providerTestEnvironment();
    broker.answer = () => Promise.reject(new Fault("unreachable", "nobody answers"));
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith({ cpu: "64" }) }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(cordon()).toBe("true");
    expect(shadowPods()).toEqual(["web-1"]);
    expect(broker.asked.length).toBeLessThanOrEqual(11);
    broker.answer = async () => undefined;
    await time.advance(2 * MINUTE_MS);
    expect(shadowPods()).toEqual([]);
    expect(word()).toBe("Denied UnknownReservation");
  });

  test("is not cleared because an older broker cannot be asked", async () => {
    const { cluster, begin, time, cordon, shadowPods, broker } = providerTestEnvironment();
    broker.isCurrent = false;
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith(ASKED) }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect(cordon()).toBe("true");
    expect(shadowPods()).toEqual(["web-1"]);
  });
});
