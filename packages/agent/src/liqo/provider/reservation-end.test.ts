import { Fault } from "@resource-broker/base";
import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { SHADOW_PODS } from "../objects/offloading.ts";
import { END_GRACE_MS } from "./evaluate-replica.ts";
import {
  ASKED,
  acceptedWith,
  aReplica,
  aShadowPod,
  cordonQuota,
  ID,
  MINUTE_MS,
  OVER,
  providerTestEnvironment,
  ROME,
  ROMES,
  withSlice,
} from "./testing/provider-test-environment.ts";

describe("at the end of a reservation", () => {
  test("a consumer that cooperates has its time, and is not touched", async () => {
    const { cache, time, cluster, writes, shadowPods } = await withSlice();
    const before = writes().length;
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS - 2000);
    expect(shadowPods()).toHaveLength(3);
    for (const name of shadowPods()) cluster.remove(SHADOW_PODS, { name, namespace: `shop-${ROME}` });
    cluster.remove(RESOURCE_SLICES, ROMES);
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toHaveLength(before);
  });

  test("one that does not is cordoned, loses its pods, and is denied last", async () => {
    const made = await withSlice();
    const { cache, time, word, cordon, shadowPods, eventReasons } = made;
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect(cordon()).toBe("true");
    expect(shadowPods()).toEqual([]);
    expect(word()).toBe("Accepted Reserved");
    cordonQuota(made);
    await time.advance(3000);
    expect(word()).toBe("Denied ReservationEnded");
    expect(eventReasons()).toEqual(["SliceGranted", "SliceCordoned", "GuestsRemoved", "SliceRefused"]);
  });

  test("pods that come back are removed again", async () => {
    const made = await withSlice();
    const { cache, time, cluster, shadowPods } = made;
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    cluster.put(SHADOW_PODS, aShadowPod("web-4"));
    await time.advance(5000);
    expect(shadowPods()).toEqual([]);
    cordonQuota(made);
    await time.advance(5000);
    cluster.put(SHADOW_PODS, aShadowPod("web-5"));
    await time.advance(5000);
    expect(shadowPods()).toEqual([]);
  });

  test("pods left behind without their slice are removed all the same", async () => {
    const { cache, time, cluster, shadowPods } = await withSlice();
    cluster.remove(RESOURCE_SLICES, ROMES);
    await time.advance(1000);
    expect(shadowPods()).toHaveLength(3);
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect(shadowPods()).toEqual([]);
  });

  test("pods without a stamped user are known by where they come from", async () => {
    const { cache, time, cluster, shadowPods } = await withSlice();
    cluster.put(SHADOW_PODS, aShadowPod("unstamped", { isStamped: false }));
    cluster.put(SHADOW_PODS, aShadowPod("other", { slice: "mypool" }));
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect(shadowPods()).toEqual(["other"]);
  });

  test("many pods are removed in bounded rounds", async () => {
    const { cache, time, cluster, shadowPods, eventReasons } = await withSlice();
    for (let pod = 0; pod < 120; pod++) cluster.put(SHADOW_PODS, aShadowPod(`batch-${pod}`));
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 20_000);
    expect(shadowPods()).toEqual([]);
    expect(eventReasons().filter((reason) => reason === "GuestsRemoved")).toHaveLength(3);
  });

  test("a pod that cannot go is deleted once, and waited for", async () => {
    const made = await withSlice();
    const { cache, time, cluster, shadowPods, word, writes } = made;
    const stuck = aShadowPod("stuck");
    cluster.put(SHADOW_PODS, {
      ...stuck,
      metadata: { ...stuck.metadata, finalizers: ["somebody.example/slow"] },
    });
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 1000);
    cordonQuota(made);
    await time.advance(10 * MINUTE_MS);
    expect(shadowPods()).toEqual(["stuck"]);
    expect(writes().filter(({ verb, name }) => verb === "delete" && name === "stuck")).toHaveLength(1);
    expect(word()).toBe("Accepted Reserved");
    cluster.edit(SHADOW_PODS, { name: "stuck", namespace: `shop-${ROME}` }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, finalizers: [] },
    }));
    await time.advance(5000);
    expect(word()).toBe("Denied ReservationEnded");
  });

  test("an API server that fails is asked again until all is gone", async () => {
    const { cache, time, cluster, shadowPods } = await withSlice();
    let failures = 10;
    cluster.setCallFaults(({ verb }) =>
      verb === "delete" && failures-- > 0
        ? { fault: new Fault("unreachable", "connection reset") }
        : undefined,
    );
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 5 * MINUTE_MS);
    expect(shadowPods()).toEqual([]);
  });

  test("an agent that was away for it asks the broker, and finishes", async () => {
    const { time, cluster, cache, broker, begin, shadowPods, word } = providerTestEnvironment();
    broker.answer = async () => OVER;
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith(ASKED) }));
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    begin();
    await time.advance(1000);
    expect(cache.get("provider", ID)?.endedAt).toBeDefined();
    expect(shadowPods()).toEqual(["web-1"]);
    await time.advance(END_GRACE_MS + 5000);
    expect(shadowPods()).toEqual([]);
    expect(word()).toBe("Denied ReservationEnded");
  });

  test("an agent that starts again in the middle continues", async () => {
    const made = await withSlice();
    const { cache, time, provider, begin, shadowPods, cordon } = made;
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS / 2);
    await provider.stop();
    await time.advance(END_GRACE_MS);
    expect(shadowPods()).toHaveLength(3);
    begin();
    await time.advance(5000);
    expect(shadowPods()).toEqual([]);
    expect(cordon()).toBe("true");
  });
});
