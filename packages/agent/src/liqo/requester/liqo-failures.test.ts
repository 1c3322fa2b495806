import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { RESOURCE_SLICES } from "../objects/authentication.ts";
import { RESERVATION_PODS } from "./reservation-nodes.ts";
import { aStuckPod } from "./testing/liqo-in-memory.ts";
import {
  clusterIdMap,
  type LiqoTestEnvironment,
  liqoTestEnvironment,
  MINUTE_MS,
} from "./testing/liqo-test-environment.ts";
import { DELIVERY_A, DELIVERY_B, ID_A, ID_B, othersSlice } from "./testing/samples.ts";

describe("what goes wrong", () => {
  test.each<[string, (it: LiqoTestEnvironment) => void, string, string]>([
    [
      "no kubeconfig",
      ({ state }) => void (state.kubeconfig = false),
      "KubeconfigMissing",
      "paris.kubeconfig",
    ],
    [
      "no liqoctl",
      ({ liqo }) => void (liqo.harm.answer = { code: 127, output: "liqoctl cannot be started" }),
      "LiqoctlMissing",
      "cannot be started",
    ],
    [
      "a liqoctl that fails",
      ({ liqo }) => void (liqo.harm.answer = { code: 1, output: "INFO ok\nERRO no route to host" }),
      "PeeringFailed",
      "ERRO no route to host",
    ],
    [
      "a liqoctl that only says that it has peered",
      ({ liqo }) => void (liqo.harm.answer = { code: 0, output: "INFO ok" }),
      "AwaitingPeering",
      "does not yet say",
    ],
    [
      "a kubeconfig of another cluster",
      ({ remote }) =>
        void remote.edit(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" }, () =>
          clusterIdMap("wild-oslo"),
        ),
      "IdentityMismatch",
      "wild-oslo instead of calm-paris",
    ],
    [
      "a provider that does not answer",
      ({ remote }) => remote.down(),
      "ProviderUnreachable",
      "connection refused",
    ],
    [
      "a cluster without Liqo",
      ({ cluster }) => cluster.remove(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" }),
      "LiqoMissing",
      "install it",
    ],
    ["a grant that is denied", ({ liqo }) => void (liqo.harm.denies = true), "SliceDenied", "Because"],
  ])("%s is told, and ends clean", async (_, act, reason, message) => {
    const it = liqoTestEnvironment();
    act(it);
    expect((await it.reason(DELIVERY_A, reason)).last).toMatchObject({
      reason,
      message: expect.stringContaining(message),
    });
    it.cluster.up();
    expect((await it.clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(it.left()).toEqual([]);
  });

  test("a failure is tried again, and works in the end", async () => {
    const { ready, liqo, commands } = liqoTestEnvironment();
    liqo.harm.answer = { code: 1, output: "ERRO no route to host" };
    expect((await ready(DELIVERY_A, 5 * MINUTE_MS)).last.kind).toBe("ready");
    expect(commands()).toEqual(["peer", "peer"]);
  });

  test("a release while liqoctl is peering ends it, and what it has begun", async () => {
    const { peering, clean, liqo, left, commands } = liqoTestEnvironment();
    liqo.harm.hangs = true;
    await peering(DELIVERY_A);
    liqo.harm.hangs = false;
    const { last, tookMs } = await clean(ID_A, MINUTE_MS);
    expect(last).toEqual({ kind: "clean" });
    expect(tookMs).toBeLessThan(MINUTE_MS);
    expect(left()).toEqual([]);
    expect(liqo.running()).toBe(0);
    expect(commands()[0]).toBe("peer");
  });

  test("a release of one of two while liqoctl is peering leaves it to the other", async () => {
    const { ready, peering, clean, liqo, commands, time, slices } = liqoTestEnvironment();
    liqo.harm.hangs = true;
    await peering(DELIVERY_A);
    await peering(DELIVERY_B);
    expect((await clean(ID_A, MINUTE_MS)).last).toEqual({ kind: "clean" });
    expect(liqo.running()).toBe(1);
    liqo.harm.hangs = false;
    await time.advance(30 * MINUTE_MS);
    await ready(DELIVERY_B, 5 * MINUTE_MS);
    expect(slices()).toEqual([ID_B]);
    expect(commands()).toEqual(["peer", "peer"]);
  });

  test("a liqoctl that hangs is killed in time", async () => {
    const { plane, peering, liqo, time } = liqoTestEnvironment();
    liqo.harm.hangs = true;
    await peering(DELIVERY_A);
    await time.advance(1_360_000);
    expect(await plane().establish(DELIVERY_A)).toMatchObject({ reason: "LiqoctlTimedOut", isStalled: true });
    expect(liqo.running()).toBe(0);
  });

  test("a provider that is gone for good keeps nothing here, after an hour", async () => {
    const { ready, clean, cluster, lose, left, commands } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    cluster.put(RESERVATION_PODS, aStuckPod("web", ID_A));
    lose();
    const { last, reasons, tookMs } = await clean(ID_A, 90 * MINUTE_MS);
    expect(last).toEqual({ kind: "clean" });
    expect(reasons).toContain("Forced");
    expect(tookMs).toBeGreaterThanOrEqual(60 * MINUTE_MS);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "force unpeer"]);
  });

  test("two reservations of a provider that is gone do not wait for each other", async () => {
    const { ready, clean, lose, left, commands } = liqoTestEnvironment();
    await Promise.all([ready(DELIVERY_A), ready(DELIVERY_B)]);
    lose();
    await Promise.all([clean(ID_A, 90 * MINUTE_MS), clean(ID_B, 90 * MINUTE_MS)]);
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "force unpeer"]);
  });

  test("a provider that comes back within the hour is unpeered from, and nothing is forced", async () => {
    const { ready, clean, lose, find, left, commands } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    lose();
    const { last } = await clean(ID_A, 50 * MINUTE_MS);
    expect(last).toMatchObject({ reason: "ProviderUnreachable", isStalled: true });
    find();
    expect((await clean(ID_A)).last).toEqual({ kind: "clean" });
    expect(left()).toEqual([]);
    expect(commands()).toEqual(["peer", "unpeer"]);
  });

  test("what a silent provider borrows here is never deleted by force", async () => {
    const { ready, clean, lose, cluster, slices, commands } = liqoTestEnvironment();
    await ready(DELIVERY_A);
    const labels = { "liqo.io/replicated": "true" };
    cluster.put(
      RESOURCE_SLICES,
      othersSlice({ name: "theirs", namespace: "liqo-tenant-calm-paris", labels }),
    );
    lose();
    expect((await clean(ID_A, 120 * MINUTE_MS)).last).toMatchObject({
      reason: "ForceRefused",
      isStalled: true,
    });
    expect(slices()).toEqual(["theirs"]);
    expect(commands()).toEqual(["peer"]);
  });

  test("a missing right is named", async () => {
    const { plane, cluster } = liqoTestEnvironment();
    cluster.setCallFaults(({ verb, plural }) =>
      verb === "create" && plural === "configmaps"
        ? { fault: new Fault("forbidden", "may not create configmaps"), isDone: false }
        : undefined,
    );
    expect(await plane().establish(DELIVERY_A)).toMatchObject({
      reason: "Forbidden",
      isStalled: true,
      message: "may not create configmaps",
    });
  });
});
