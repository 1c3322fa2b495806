import { describe, expect, test } from "vitest";
import { FOREIGN_CLUSTERS, IDENTITIES, RESERVATION_PODS, RESOURCE_SLICES, TENANTS } from "../objects.ts";
import { sliceManifest } from "./desired-virtual-node.ts";
import { UNREACHABLE } from "./end-peering.ts";
import {
  install,
  type LiqoTestEnvironment,
  liqoTestEnvironment,
  MINUTE_MS,
  ROME_AT_PARIS,
} from "./testing/liqo-test-environment.ts";
import {
  aDeliverySpec,
  aDesiredVirtualNode,
  aForeignCluster,
  aStuckPod,
  DELIVERY_A,
  DELIVERY_B,
  ID_A,
  ID_B,
  othersSlice,
} from "./testing/samples.ts";

const TENANT_NAMESPACE = "liqo-tenant-calm-paris";
const THEIRS = othersSlice({ name: "theirs", namespace: TENANT_NAMESPACE });
const CLEAN = { kind: "clean" };

describe("a peering", () => {
  test("serves two reservations, and ends with the last", async () => {
    const { ready, clean, slices, commands, left } = liqoTestEnvironment();
    await Promise.all([ready(DELIVERY_A), ready(DELIVERY_B)]);
    expect(slices().sort()).toEqual([ID_A, ID_B]);
    await clean(ID_A);
    expect([slices(), commands()]).toEqual([[ID_B], ["peer"]]);
    expect((await ready(DELIVERY_B)).last.kind).toBe("ready");
    await ready(DELIVERY_A);
    await Promise.all([clean(ID_A), clean(ID_B)]);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test.each<[string, (it: LiqoTestEnvironment) => unknown]>([
    ["made before", ({ liqo }) => liqo.setPeered(true)],
    [
      "made while this agent could not",
      async ({ files, liqo, reason }) => {
        delete files["paris"];
        await reason(DELIVERY_A, "KubeconfigMissing");
        liqo.setPeered(true);
      },
    ],
  ])("that a person has %s is never ended", async (_, prepare) => {
    const it = liqoTestEnvironment();
    await prepare(it);
    await it.ready(DELIVERY_A);
    expect((await it.clean(ID_A)).last).toEqual(CLEAN);
    expect([it.left(), it.commands()]).toEqual([[], []]);
  });

  test("is not ended while a person has a slice there", async () => {
    const { ready, clean, cluster, commands, slices } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.put(RESOURCE_SLICES, { ...THEIRS, status: {} });
    await clean(ID_A);
    expect([slices(), commands()]).toEqual([["theirs"], ["peer"]]);
  });

  test("leaves the network to a provider that borrows here", async () => {
    const { ready, clean, liqo, commands } = liqoTestEnvironment();
    liqo.faults.borrows = true;
    await ready(DELIVERY_A);
    expect((await clean(ID_A)).last).toEqual(CLEAN);
    expect(commands()).toEqual(["peer", "unauthenticate"]);
  });

  test("begins again while the last one is still being ended", async () => {
    const { ready, clean, commands, liqo, plane, time } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.faults.hangs = true;
    await clean(ID_A, 5000);
    expect(await plane().establish(DELIVERY_B)).toMatchObject({ reason: "Unpeering" });
    liqo.faults.hangs = false;
    await time.advance(20 * MINUTE_MS);
    await Promise.all([clean(ID_A), ready(DELIVERY_B, 5 * MINUTE_MS)]);
    expect(commands()).toEqual(["peer", "unpeer", "unpeer", "peer"]);
    expect((await ready(DELIVERY_B)).last.kind).toBe("ready");
  });

  test("is stopped by a release while liqoctl is at it, and what it has begun is ended", async () => {
    const { peering, clean, liqo, left, commands } = liqoTestEnvironment();
    liqo.faults.hangs = true;
    await peering(DELIVERY_A);
    liqo.faults.hangs = false;
    expect((await clean(ID_A, MINUTE_MS)).last).toEqual(CLEAN);
    expect([left(), liqo.running(), commands()[0]]).toEqual([[], 0, "peer"]);
  });

  test("is left to the other by a release of one of two", async () => {
    const { ready, peering, clean, liqo, commands, time, slices } = liqoTestEnvironment();
    liqo.faults.hangs = true;
    await peering(DELIVERY_A);
    await peering(DELIVERY_B);
    expect((await clean(ID_A, MINUTE_MS)).last).toEqual(CLEAN);
    expect(liqo.running()).toBe(1);
    liqo.faults.hangs = false;
    await time.advance(30 * MINUTE_MS);
    await ready(DELIVERY_B, 5 * MINUTE_MS);
    expect([slices(), commands()]).toEqual([[ID_B], ["peer", "peer"]]);
  });

  test("is tried at once with a kubeconfig that was put right, whatever the pause", async () => {
    const { ready, time, files, plane } = liqoTestEnvironment();
    const { paris } = files;
    delete files["paris"];
    await ready(DELIVERY_A, 20 * MINUTE_MS);
    await plane().establish(DELIVERY_A);
    if (paris !== undefined) files["paris"] = paris;
    const began = time.monotonicMs();
    expect((await ready(DELIVERY_A)).last).toMatchObject({ kind: "ready" });
    expect(time.monotonicMs() - began).toBeLessThan(MINUTE_MS / 2);
  });

  test("begins without the failures of reservations that are gone", async () => {
    const { reason, ready, clean, liqo } = liqoTestEnvironment();
    liqo.faults.answer = { code: 1, output: "ERRO no route to host" };
    await reason(DELIVERY_A, "PeeringFailed");
    await clean(ID_A);
    const { last, reasons } = await ready(DELIVERY_B);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).not.toContain("PeeringFailed");
  });

  test("is not ended with a kubeconfig that now leads to another cluster", async () => {
    const { ready, clean, remote, commands } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    install(remote, "wild-oslo");
    expect((await clean(ID_A)).last).toMatchObject({ reason: "IdentityMismatch", isStalled: true });
    expect(commands()).toEqual(["peer"]);
    install(remote, "calm-paris");
    expect((await clean(ID_A)).last).toEqual(CLEAN);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });
});

describe("Liqo, which keeps its role after an unpeer until it is made to look", () => {
  test("is peered again by the next reservation, again and again", async () => {
    const { ready, clean, commands, left, cluster } = liqoTestEnvironment();
    for (const spec of [DELIVERY_A, DELIVERY_B, DELIVERY_A]) {
      expect((await ready(spec)).last).toMatchObject({ kind: "ready" });
      const { last, tookMs } = await clean(spec.reservation.id);
      expect(last).toEqual(CLEAN);
      expect(tookMs).toBeLessThan(MINUTE_MS);
      expect(left()).toEqual([]);
    }
    expect(commands()).toEqual(["peer", "unpeer", "peer", "unpeer", "peer", "unpeer"]);
    // Each look needs a label that changes, and none is left.
    const labels = { "liqo.io/remote-cluster-id": "calm-paris" };
    expect(cluster.all(FOREIGN_CLUSTERS)[0]?.metadata.labels).toEqual(labels);
  });

  test.each<[string, boolean, readonly string[]]>([
    ["after a person has unpeered", false, ["peer", "peer"]],
    ["after it got the rights again that it lacks to let go", true, ["peer", "peer", "peer"]],
  ])("is peered again %s", async (_, isRaceLost, expected) => {
    const { ready, liqo, commands, clean, left, cluster } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.unpeer({ isRaceLost });
    const { last, reasons } = await ready(DELIVERY_A, 10 * MINUTE_MS);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).not.toContain("AwaitingAuthentication");
    expect(commands()).toEqual(expected);
    expect(cluster.all(IDENTITIES)).toHaveLength(1);
    expect((await clean(ID_A)).last).toEqual(CLEAN);
    expect(left()).toEqual([]);
  });

  test("that a person has peered over the rests of an unpeering serves no slice: it is peered again", async () => {
    const { ready, liqo, commands, clean, left } = liqoTestEnvironment();
    liqo.setPeered(true);
    liqo.unpeer({ isRaceLost: true });
    liqo.setPeered(true);
    const { last, reasons } = await ready(DELIVERY_A, 5 * MINUTE_MS);
    expect(last).toMatchObject({ kind: "ready" });
    expect(reasons).toContain("AwaitingAuthentication");
    expect(commands()).toEqual(["peer"]);
    expect((await clean(ID_A)).last).toEqual(CLEAN);
    expect(left()).toEqual([]);
  });

  test("keeps the rests of a peering that somebody's slice uses", async () => {
    const { reason, liqo, cluster, commands } = liqoTestEnvironment();
    liqo.setPeered(true);
    liqo.unpeer({ isRaceLost: true });
    cluster.put(RESOURCE_SLICES, THEIRS);
    expect((await reason(DELIVERY_A, "PeeringInUse")).last.message).toContain(
      `kubectl delete resourceslices.authentication.liqo.io -n ${TENANT_NAMESPACE} theirs`,
    );
    expect(commands()).toEqual([]);
  });

  test("gets no slice without an Identity, and loses one that was made too late", async () => {
    const { plane, ready, liqo, cluster, slices } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    liqo.unpeer();
    liqo.work();
    cluster.put(RESOURCE_SLICES, sliceManifest(aDesiredVirtualNode({ id: ID_A })));
    expect(await plane().establish(DELIVERY_A)).toMatchObject({ reason: "SliceRemoved" });
    expect(slices()).toEqual([]);
    expect((await ready(DELIVERY_A, 2 * MINUTE_MS)).last).toMatchObject({ kind: "ready" });
  });

  test("keeps a slice in use whose Identity somebody has deleted, and says what a person can do", async () => {
    const { plane, ready, liqo, cluster, slices } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.remove(IDENTITIES, { name: "controlplane-calm-paris", namespace: TENANT_NAMESPACE });
    liqo.reconcile({ isMade: false });
    expect(await plane().establish(DELIVERY_A)).toMatchObject({
      reason: "IdentityMissing",
      isStalled: true,
      message: expect.stringContaining(`-n ${TENANT_NAMESPACE} ${ID_A}`),
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

  test.each([
    ["slice", "AwaitingAuthentication", undefined],
    ["namespace", "AwaitingOffloading", { namespaces: ["shop"] }],
  ])("brings a %s again that an API server refused which had just started", async (_, reason, offload) => {
    const { ready, liqo } = liqoTestEnvironment();
    if (offload !== undefined) await ready(DELIVERY_A);
    liqo.faults.refuses = true;
    const spec = aDeliverySpec({ id: ID_A }, offload);
    expect((await ready(spec)).last).toMatchObject({ reason });
    liqo.faults.refuses = false;
    expect((await ready(spec)).last).toMatchObject({ kind: "ready" });
  });
});

describe("a provider that is gone", () => {
  test("for good keeps nothing here, after an hour, and no reservation waits for another", async () => {
    const { ready, clean, cluster, lose, left, commands } = liqoTestEnvironment();
    await Promise.all([ready(DELIVERY_A), ready(DELIVERY_B)]);
    cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    lose();
    const ends = await Promise.all([ID_A, ID_B].map((id) => clean(id, 90 * MINUTE_MS)));
    expect(ends.map(({ last }) => last)).toEqual([CLEAN, CLEAN]);
    expect(ends[0]?.reasons).toContain("Forced");
    expect(Math.max(...ends.map(({ tookMs }) => tookMs))).toBeGreaterThanOrEqual(60 * MINUTE_MS);
    expect([left(), commands()]).toEqual([[], ["peer", "force unpeer"]]);
  });

  test("and comes back within the hour is unpeered from, and nothing is forced", async () => {
    const { ready, clean, lose, find, left, commands } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    lose();
    const { last } = await clean(ID_A, 50 * MINUTE_MS);
    expect(last).toMatchObject({ reason: "ProviderUnreachable", isStalled: true });
    find();
    expect((await clean(ID_A)).last).toEqual(CLEAN);
    expect([left(), commands()]).toEqual([[], ["peer", "unpeer"]]);
  });

  test("and peers again after a forced end is not marked as gone any more", async () => {
    const { ready, cluster } = liqoTestEnvironment();
    const gone = aForeignCluster("Unknown");
    const annotations = { [UNREACHABLE]: "true" };
    cluster.put(FOREIGN_CLUSTERS, { ...gone, metadata: { ...gone.metadata, annotations } });
    expect((await ready(DELIVERY_A)).last.kind).toBe("ready");
    expect(cluster.all(FOREIGN_CLUSTERS)[0]?.metadata.annotations ?? {}).toEqual({});
  });

  test("loses nothing by force that it borrows here", async () => {
    const { ready, clean, lose, cluster, slices, commands } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    const labels = { "liqo.io/replicated": "true" };
    cluster.put(RESOURCE_SLICES, { ...THEIRS, metadata: { ...THEIRS.metadata, labels } });
    lose();
    const { last } = await clean(ID_A, 120 * MINUTE_MS);
    expect(last).toMatchObject({ reason: "ForceRefused", isStalled: true });
    expect([slices(), commands()]).toEqual([["theirs"], ["peer"]]);
  });
});
