import { Fault } from "@resource-broker/base";
import { CONFIG_MAPS, NAMESPACES } from "@resource-broker/kube";
import { describe, expect, test } from "vitest";
import { settingsOf } from "../../settings/testing/read-settings.ts";
import { openDataPlane } from "../liqo-data-plane.ts";
import {
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceSlice,
  SHADOW_PODS,
  type Tenant,
  TENANTS,
} from "../objects.ts";
import { END_GRACE_MS, SETTLE_MS } from "./evaluate-replica.ts";
import { liqoProvider } from "./liqo-provider.ts";
import {
  ASKED,
  acceptedWith,
  aProviderReservation,
  aQuota,
  aReplica,
  aShadowPod,
  ID,
  MALLORY,
  MINUTE_MS,
  OVER,
  type ProviderTestEnvironment,
  providerTestEnvironment,
  ROME,
  ROMES,
  tenantNamespace,
  withSlice,
} from "./testing/provider-test-environment.ts";

type Act = (environment: ProviderTestEnvironment) => void;
const learn: Act = ({ cache }) => void cache.update("provider", aProviderReservation());

/** rome's reservation is known, its slice is there, and the provider has begun. */
async function begun(prepare: Act = () => undefined): Promise<ProviderTestEnvironment> {
  const environment = providerTestEnvironment();
  learn(environment);
  environment.cluster.put(RESOURCE_SLICES, aReplica());
  prepare(environment);
  environment.begin();
  await environment.time.advance(1000);
  return environment;
}

describe("granting", () => {
  test("gives a replica what is reserved, once, and says so", async () => {
    const { word, find, eventReasons, writes, time } = await withSlice();
    expect(word()).toBe("Accepted Reserved");
    expect(find()?.status?.resources).toEqual(ASKED);
    expect(eventReasons()).toEqual(["SliceGranted"]);
    await time.advance(10 * MINUTE_MS);
    expect(writes()).toMatchObject([{ verb: "update", plural: "resourceslices", name: ID }]);
  });

  test.each<[string, Act, number, string | undefined, Act]>([
    ["for a reservation that comes later than its slice", () => undefined, SETTLE_MS / 2, undefined, learn],
    [
      "for what nobody has reserved yet, and refuses it meanwhile",
      () => undefined,
      SETTLE_MS + 1000,
      "Denied UnknownReservation",
      learn,
    ],
    [
      "until the capacity is held",
      (environment) => {
        learn(environment);
        environment.held.clear();
      },
      5000,
      undefined,
      ({ held }) => void held.add(ID),
    ],
    [
      "until the agent has listed its instructions",
      (environment) => {
        learn(environment);
        environment.state.isReady = false;
      },
      MINUTE_MS,
      undefined,
      ({ state }) => void (state.isReady = true),
    ],
  ])("waits %s", async (_, prepare, afterMs, before, act) => {
    const environment = providerTestEnvironment();
    const { cluster, begin, time, word, broker } = environment;
    prepare(environment);
    cluster.put(RESOURCE_SLICES, aReplica());
    begin();
    await time.advance(afterMs);
    expect([word(), broker.asked]).toEqual([before, []]);
    act(environment);
    await time.advance(1000);
    expect(word()).toBe("Accepted Reserved");
  });

  test("decides again when somebody writes at the same time", async () => {
    let conflicts = 3;
    const { word } = await begun(({ cluster }) =>
      cluster.setCallFaults(({ verb }) =>
        verb === "update" && conflicts-- > 0
          ? { fault: new Fault("conflict", "it was modified") }
          : undefined,
      ),
    );
    expect(word()).toBe("Accepted Reserved");
  });

  test("judges the newest version, not what the watch showed", async () => {
    const { word } = await begun(({ cluster }) => {
      cluster.setWatchLag(20_000);
      cluster.setCallFaults(({ verb, plural }) => {
        if (verb !== "get" || plural !== "namespaces") return undefined;
        cluster.setCallFaults(undefined);
        cluster.edit(RESOURCE_SLICES, ROMES, ({ spec, ...slice }) => ({
          ...slice,
          spec: { ...spec, resources: { cpu: "64" } },
        }));
        return undefined;
      });
    });
    expect(word()).toBe("Denied TooMuch");
  });

  test.each(["Cordoned", "Drained"] as const)(
    "leaves a %s tenant to Liqo until it is active",
    async (state) => {
      const name = { name: ROME, namespace: `liqo-tenant-${ROME}` };
      const tenant = (tenantCondition: "Active" | "Cordoned" | "Drained"): Tenant => ({
        apiVersion: "authentication.liqo.io/v1beta1",
        kind: "Tenant",
        metadata: name,
        spec: { clusterID: ROME, tenantCondition },
      });
      const { cluster, time, word } = await begun((it) => it.cluster.put(TENANTS, tenant(state)));
      expect(word()).toBeUndefined();
      cluster.edit(TENANTS, name, () => tenant("Active"));
      await time.advance(MINUTE_MS);
      expect(word()).toBe("Accepted Reserved");
    },
  );

  test("follows a reservation that was renewed after it seemed over", async () => {
    const { cache, time, word, cordon, cordonQuota } = await withSlice();
    cache.endLocally(ID, "Expired");
    await time.advance(END_GRACE_MS + 1000);
    cordonQuota();
    expect(cordon()).toBe("true");
    cache.update("provider", aProviderReservation({ generation: 2 }));
    await time.advance(1000);
    expect([cordon(), word()]).toEqual([undefined, "Accepted Reserved"]);
  });
});

describe("a hostile consumer", () => {
  test("that accepts itself under another's id loses its own pods, and nobody else's", async () => {
    const { cluster, time, word, cordon, shadowPods, cordonQuota } = await withSlice();
    cluster.put(QUOTAS, aQuota(MALLORY));
    cluster.put(SHADOW_PODS, aShadowPod("miner", { tenant: MALLORY }));
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY, status: acceptedWith({ cpu: "64" }) }));
    await time.advance(3000);
    expect([cordon(ROME), cordon(MALLORY)]).toEqual([undefined, "true"]);
    expect(shadowPods()).toEqual(["web-1", "web-2", "web-3"]);
    expect(word(MALLORY)).toBe("Accepted Reserved");
    cordonQuota(MALLORY);
    await time.advance(3000);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
  });

  test("that pretends to be another cluster harms nobody but itself", async () => {
    const { cluster, time, word, cordon, shadowPods } = await withSlice();
    const { metadata, ...quota } = aQuota(ROME);
    cluster.put(QUOTAS, { ...quota, metadata: { ...metadata, namespace: `liqo-tenant-${MALLORY}` } });
    const status = acceptedWith({ cpu: "64" });
    cluster.put(RESOURCE_SLICES, aReplica({ tenant: MALLORY, origin: ROME, status }));
    await time.advance(MINUTE_MS);
    expect(cluster.all(QUOTAS).map((each) => each.metadata.namespace)).toEqual([`liqo-tenant-${ROME}`]);
    expect([word(ROME), word(MALLORY)]).toEqual(["Accepted Reserved", "Denied WrongRequester"]);
    // A cordon would go to the Quota of the user it claims to be: rome's.
    expect([cordon(ROME), cordon(MALLORY)]).toEqual([undefined, undefined]);
    expect(shadowPods()).toHaveLength(3);
  });

  test("cannot stop the work on others by a replica that makes no sense or always fails", async () => {
    const { cache, cluster, time, word, shadowPods } = await begun(({ cluster: paris }) => {
      const { spec: _, ...bare } = aReplica({ tenant: MALLORY });
      paris.put(RESOURCE_SLICES, bare as ResourceSlice);
      paris.put(NAMESPACES, tenantNamespace("oslo-liqo"));
      paris.put(RESOURCE_SLICES, aReplica({ tenant: "oslo-liqo" }));
      paris.setCallFaults(({ verb, name }) =>
        verb === "get" && name === "liqo-tenant-oslo-liqo"
          ? { fault: new Fault("internal", "broke") }
          : undefined,
      );
    });
    expect(word(ROME)).toBe("Accepted Reserved");
    cache.update("provider", OVER);
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    await time.advance(END_GRACE_MS + 2 * MINUTE_MS);
    expect(shadowPods()).toEqual([]);
  });

  test("that writes replicas outside of its namespace is denied", async () => {
    const { word } = await begun(({ cluster }) => {
      cluster.remove(NAMESPACES, { name: `liqo-tenant-${ROME}` });
      cluster.put(NAMESPACES, { metadata: { name: `liqo-tenant-${ROME}` } });
    });
    expect(word()).toBe("Denied WrongRequester");
  });

  test("without a reservation is cordoned at once, and cleared when the broker agrees, also from memory", async () => {
    const { cluster, begin, time, word, cordon, shadowPods, broker } = providerTestEnvironment();
    const away = () => Promise.reject(new Fault("unreachable", "nobody answers"));
    broker.answer = away;
    const status = acceptedWith({ cpu: "64" });
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    cluster.put(RESOURCE_SLICES, aReplica({ status }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect([cordon(), shadowPods()]).toEqual(["true", ["web-1"]]);
    expect(broker.asked.length).toBeLessThanOrEqual(11);
    broker.answer = async () => undefined;
    await time.advance(2 * MINUTE_MS);
    expect([word(), shadowPods()]).toEqual(["Denied UnknownReservation", []]);
    broker.answer = away;
    cluster.put(SHADOW_PODS, aShadowPod("web-2"));
    await time.advance(2 * MINUTE_MS);
    cluster.edit(RESOURCE_SLICES, ROMES, (slice) => ({ ...slice, status }));
    await time.advance(1000);
    expect(shadowPods()).toEqual([]);
  });

  test("is not cleared because an older broker cannot be asked", async () => {
    const { cluster, begin, time, cordon, shadowPods, broker } = providerTestEnvironment();
    broker.isCurrent = false;
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith(ASKED) }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect([cordon(), shadowPods()]).toEqual(["true", ["web-1"]]);
  });
});

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

  test("one that does not is cordoned, loses its pods, also those that come back, and is denied last", async () => {
    const { cache, time, cluster, word, cordon, shadowPods, eventReasons, cordonQuota } = await withSlice();
    cluster.put(SHADOW_PODS, aShadowPod("unstamped", { isStamped: false }));
    cluster.put(SHADOW_PODS, aShadowPod("other", { slice: "mypool" }));
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 5000);
    expect([cordon(), word(), shadowPods()]).toEqual(["true", "Accepted Reserved", ["other"]]);
    cordonQuota();
    await time.advance(3000);
    expect(word()).toBe("Denied ReservationEnded");
    expect(eventReasons()).toEqual(["SliceGranted", "SliceCordoned", "GuestsRemoved", "SliceRefused"]);
    cluster.put(SHADOW_PODS, aShadowPod("web-4"));
    await time.advance(5000);
    expect(shadowPods()).toEqual(["other"]);
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

  test("many pods are removed in bounded rounds", async () => {
    const { cache, time, cluster, shadowPods, eventReasons } = await withSlice();
    for (let pod = 0; pod < 120; pod++) cluster.put(SHADOW_PODS, aShadowPod(`batch-${pod}`));
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 20_000);
    expect(shadowPods()).toEqual([]);
    expect(eventReasons().filter((reason) => reason === "GuestsRemoved")).toHaveLength(3);
  });

  test("a pod that cannot go is deleted once, and waited for", async () => {
    const { cache, time, cluster, shadowPods, word, writes, cordonQuota } = await withSlice();
    const { metadata, ...stuck } = aShadowPod("stuck");
    cluster.put(SHADOW_PODS, { ...stuck, metadata: { ...metadata, finalizers: ["somebody.example/slow"] } });
    cache.update("provider", OVER);
    await time.advance(END_GRACE_MS + 1000);
    cordonQuota();
    await time.advance(10 * MINUTE_MS);
    expect([word(), shadowPods()]).toEqual(["Accepted Reserved", ["stuck"]]);
    expect(writes().filter(({ verb, name }) => verb === "delete" && name === "stuck")).toHaveLength(1);
    cluster.edit(SHADOW_PODS, { name: "stuck", namespace: `shop-${ROME}` }, () => aShadowPod("stuck"));
    await time.advance(5000);
    expect(word()).toBe("Denied ReservationEnded");
  });

  test("an agent that was away for it asks the broker, and finishes", async () => {
    const { time, cluster, broker, begin, shadowPods, word } = providerTestEnvironment();
    broker.answer = async () => OVER;
    cluster.put(RESOURCE_SLICES, aReplica({ status: acceptedWith(ASKED) }));
    cluster.put(SHADOW_PODS, aShadowPod("web-1"));
    const first = begin();
    await time.advance(END_GRACE_MS / 2);
    expect(shadowPods()).toEqual(["web-1"]);
    await first.stop();
    await time.advance(END_GRACE_MS);
    expect(shadowPods()).toEqual(["web-1"]);
    begin();
    await time.advance(5000);
    expect([word(), shadowPods()]).toEqual(["Denied ReservationEnded", []]);
  });
});

describe("what is not ours", () => {
  const FOREIGN = aReplica({
    name: "mypool",
    spec: { class: "default" },
    status: acceptedWith({ cpu: "64" }),
  });
  const NAME = { name: "mypool", namespace: `liqo-tenant-${ROME}` };

  test("is left alone, whatever it takes: slices of others' classes, and those sent to others", async () => {
    const { cluster, begin, time, writes, broker } = providerTestEnvironment();
    cluster.put(RESOURCE_SLICES, FOREIGN);
    cluster.put(RESOURCE_SLICES, aReplica({ metadata: { labels: { "liqo.io/replication": "true" } } }));
    cluster.put(SHADOW_PODS, aShadowPod("web-1", { slice: "mypool" }));
    begin();
    await time.advance(10 * MINUTE_MS);
    expect([writes(), broker.asked]).toEqual([[], []]);
  });

  test.each([
    ["is left alone without --liqo-enforce", [], undefined, []],
    ["is flagged and cordoned with it, and its pods stay", ["--liqo-enforce"], "true", ["SliceFlagged"]],
  ])("%s", async (_, flags, expected, reasons) => {
    const { cluster, time, deps, installLiqo, eventReasons, shadowPods } = providerTestEnvironment();
    const settings = await settingsOf(["--liqo-namespace=elsewhere", ...flags]);
    const dataPlane = openDataPlane(settings, { ...deps, clusterId: "paris", env: {} });
    const provider = dataPlane.createProvider(deps);
    installLiqo("elsewhere");
    cluster.put(RESOURCE_SLICES, FOREIGN);
    cluster.put(SHADOW_PODS, aShadowPod("web-1", { slice: "mypool" }));
    await provider.start();
    await time.advance(MINUTE_MS);
    const { metadata, status } = cluster.find(RESOURCE_SLICES, NAME) ?? FOREIGN;
    expect(metadata.annotations?.["liqo.io/cordon"]).toBe(expected);
    expect(status).toEqual(FOREIGN.status);
    expect([eventReasons(), shadowPods()]).toEqual([reasons, ["web-1"]]);
    await Promise.all([provider.stop(), dataPlane.stop()]);
  });
});

test("Liqo's going and coming is noticed and told, and is no trouble", async () => {
  const { cluster, time, deps, installLiqo, log } = providerTestEnvironment();
  const heard: unknown[] = [];
  const onIdentity = () => void heard.push(provider.identity()?.clusterId);
  const provider = liqoProvider({ namespace: "liqo", isEnforcing: false }, { ...deps, onIdentity });
  await provider.start();
  cluster.remove(CONFIG_MAPS, { name: "clusterid", namespace: "liqo" });
  await time.advance(MINUTE_MS);
  const askedForSlices = () => cluster.calls.filter(({ plural }) => plural === RESOURCE_SLICES.plural).length;
  const before = askedForSlices();
  await time.advance(10 * MINUTE_MS);
  expect(askedForSlices()).toBe(before);
  installLiqo();
  await time.advance(MINUTE_MS);
  expect(askedForSlices()).toBeGreaterThan(before);
  expect(heard).toEqual(["paris-liqo", undefined, "paris-liqo"]);
  await provider.stop();
  expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([]);
});
