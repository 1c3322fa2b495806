import { describe, expect, test } from "vitest";
import { IDENTITIES, RESOURCE_SLICES, TENANTS } from "../objects/authentication.ts";
import { sliceManifest } from "./slice-manifest.ts";
import { liqoTestEnvironment, MINUTE_MS, ROME_AT_PARIS } from "./testing/liqo-test-environment.ts";
import { aDeliverySpec, aDesiredVirtualNode, DELIVERY_A, DELIVERY_B, ID_A } from "./testing/samples.ts";

const PARIS = "calm-paris";

describe("Liqo, which keeps its role after an unpeer until it is made to look", () => {
  test("is peered again by the next reservation, again and again", async () => {
    const { ready, clean, commands, left } = liqoTestEnvironment();
    for (const spec of [DELIVERY_A, DELIVERY_B, DELIVERY_A]) {
      expect((await ready(spec)).last).toMatchObject({ kind: "ready" });
      const { last, tookMs } = await clean(spec.reservation.id);
      expect(last).toEqual({ kind: "clean" });
      expect(tookMs).toBeLessThan(MINUTE_MS);
      expect(left()).toEqual([]);
    }
    expect(commands()).toEqual(["peer", "unpeer", "peer", "unpeer", "peer", "unpeer"]);
  });

  test("is peered again after a person has unpeered", async () => {
    const { ready, liqo, commands, clean, left } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.unpeer(PARIS);
    const { last, reasons } = await ready(DELIVERY_A, 2 * MINUTE_MS);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).not.toContain("AwaitingAuthentication");
    expect(commands()).toEqual(["peer", "peer"]);
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(left()).toEqual([]);
  });

  test("that cannot let go for want of rights gets them again, lets go, and is peered again", async () => {
    const { ready, liqo, commands, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.unpeer(PARIS, { isRaceLost: true });
    const { last, reasons } = await ready(DELIVERY_A, 10 * MINUTE_MS);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).not.toContain("AwaitingAuthentication");
    expect(commands()).toEqual(["peer", "peer", "peer"]);
    expect(cluster.all(IDENTITIES)).toHaveLength(1);
  });

  test("that a person has peered over the rests of an unpeering serves no slice: it is peered again", async () => {
    const { ready, liqo, commands, clean, left } = liqoTestEnvironment();
    liqo.setRole(PARIS, "Provider");
    liqo.unpeer(PARIS, { isRaceLost: true });
    liqo.setRole(PARIS, "Provider");
    const { last, reasons } = await ready(DELIVERY_A, 5 * MINUTE_MS);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).toContain("AwaitingAuthentication");
    expect(commands()).toEqual(["peer"]);
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(left()).toEqual([]);
  });

  test("gets no slice without an Identity, and loses one that was made too late", async () => {
    const { plane, ready, liqo, cluster, slices } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.unpeer(PARIS);
    liqo.work();
    cluster.put(RESOURCE_SLICES, sliceManifest(aDesiredVirtualNode({ id: ID_A })));
    expect(await plane().establish(DELIVERY_A)).toMatchObject({ reason: "SliceRemoved" });
    expect(slices()).toEqual([]);
    expect((await ready(DELIVERY_A, 2 * MINUTE_MS)).last).toMatchObject({ kind: "ready" });
  });

  test("keeps a slice in use whose Identity somebody has deleted, and says what a person can do", async () => {
    const { plane, ready, liqo, cluster, slices } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.remove(IDENTITIES, { name: `controlplane-${PARIS}`, namespace: `liqo-tenant-${PARIS}` });
    liqo.look(PARIS, false);
    expect(await plane().establish(DELIVERY_A)).toMatchObject({
      reason: "IdentityMissing",
      isStalled: true,
      message: expect.stringContaining(
        `kubectl delete resourceslices.authentication.liqo.io -n liqo-tenant-${PARIS} ${ID_A}`,
      ),
    });
    expect(slices()).toEqual([ID_A]);
  });

  test("says Ready of a node whose provider no longer lets this cluster in; this agent does not", async () => {
    const { ready, plane, remote } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    remote.remove(TENANTS, ROME_AT_PARIS);
    for (const look of [plane().establish, plane().observe]) {
      expect(await look(DELIVERY_A)).toMatchObject({ reason: "TenantMissing", isStalled: true });
    }
    remote.down();
    expect(await plane().establish(DELIVERY_A)).toMatchObject({ kind: "ready" });
  });
});

describe("what an API server refused that had just started", () => {
  const offload = { namespaces: ["shop"] };

  test("is a slice: Liqo is made to bring it again", async () => {
    const { ready, liqo } = liqoTestEnvironment();
    liqo.harm.refuses = true;
    expect((await ready(DELIVERY_A)).last).toMatchObject({ reason: "AwaitingAuthentication" });
    liqo.harm.refuses = false;
    expect((await ready(DELIVERY_A)).last).toMatchObject({ kind: "ready" });
  });

  test("is a namespace: it is waited for, and Liqo is made to bring it again", async () => {
    const { ready, liqo } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.harm.refuses = true;
    const spec = aDeliverySpec({ id: ID_A }, offload);
    expect((await ready(spec)).last).toMatchObject({ reason: "AwaitingOffloading" });
    liqo.harm.refuses = false;
    expect((await ready(spec)).last).toMatchObject({ kind: "ready" });
  });
});
