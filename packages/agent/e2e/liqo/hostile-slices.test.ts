import {
  LIQO_LABEL,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  type ResourceSlice,
  SHADOW_PODS,
  SLICE_CLASS,
  tenantNamespaceOf,
} from "@resource-broker/agent/liqo";
import { PATH } from "@resource-broker/contract";
import {
  creatorUser,
  PROVIDER_INSTRUCTIONS,
  until,
  WHOLE_PODS,
  type WorldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { askFor, isActive, untilActive } from "../testing/resource-request.ts";
import { type LiqoWorld, liqoIdOf, startLiqoWorld } from "./testing/liqo-world.ts";
import { oneReservation } from "./testing/one-reservation.ts";
import { podOn, TWO_CLUSTERS } from "./testing/two-reservations.ts";

const START_TIMEOUT_MS = 600_000;
const [ROME, PARIS, OSLO] = [liqoIdOf("rome"), liqoIdOf("paris"), liqoIdOf("oslo")];
const RESERVED = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };

describe("paris grants what is reserved, and nothing else", () => {
  let world: LiqoWorld;
  let rome: WorldCluster;
  let paris: WorldCluster;
  let oslo: WorldCluster;
  /** rome's own reservation. */
  let id = "";

  beforeAll(async () => {
    const osloPlan = { name: "oslo", nodes: [{ cpu: "4", memory: "16Gi" }], hasAgent: false };
    world = await startLiqoWorld({ clusters: [...TWO_CLUSTERS, osloPlan] });
    [rome, paris, oslo] = [world.cluster("rome"), world.cluster("paris"), world.cluster("oslo")];
    await askFor(rome, "loan");
    id = (await untilActive(rome, "loan")).reservationName;
    // oslo has no reservation, and is peered with paris all the same: by hand, as Liqo allows.
    const kubeconfigs = ["--kubeconfig", oslo.kubeconfigFile, "--remote-kubeconfig", paris.kubeconfigFile];
    await world.liqo.liqoctl.run(["peer", ...kubeconfigs, "--create-resource-slice=false"]);
    return world.dispose;
  }, START_TIMEOUT_MS);

  const evaluated = (name: string, namespace: string): Promise<ResourceSlice> =>
    until(`paris has judged ${name}`, async () => {
      const replica = await paris.client.get(RESOURCE_SLICES, { name, namespace });
      return grantOf(replica) === undefined ? undefined : replica;
    });

  test("not to another cluster under the name of rome's reservation", async () => {
    await oslo.client.create(RESOURCE_SLICES, sliceTo(PARIS, id));
    const replica = await evaluated(id, tenantNamespaceOf(OSLO));
    expect(grantOf(replica)).toMatchObject({ status: "Denied", reason: "WrongRequester" });
    expect(await quotaOf(paris, id, OSLO)).toBeUndefined();
  });

  test("not under a name that nobody reserved", async () => {
    await oslo.client.create(RESOURCE_SLICES, sliceTo(PARIS, "rsv-oslo-aaaaaaaaaaaaaaaa"));
    const replica = await evaluated("rsv-oslo-aaaaaaaaaaaaaaaa", tenantNamespaceOf(OSLO));
    expect(grantOf(replica)).toMatchObject({ status: "Denied", reason: "UnknownReservation" });
  });

  test("not to a replica that oslo wrote itself, in rome's name", async () => {
    const name = "rsv-rome-bbbbbbbbbbbbbbbb";
    const slice = sliceTo(PARIS, name);
    const labels = {
      ...slice.metadata.labels,
      [LIQO_LABEL.replication]: "false",
      [LIQO_LABEL.replicated]: "true",
      [LIQO_LABEL.origin]: ROME,
      [LIQO_LABEL.remoteCluster]: ROME,
    };
    const csr = Buffer.from("let me in").toString("base64");
    await paris.client.create(RESOURCE_SLICES, {
      ...slice,
      metadata: { name, namespace: tenantNamespaceOf(OSLO), labels },
      spec: { ...slice.spec, consumerClusterID: ROME, csr },
    });
    expect(grantOf(await evaluated(name, tenantNamespaceOf(OSLO)))).toMatchObject({
      status: "Denied",
      reason: "WrongRequester",
    });
  });

  test("not more to rome than it has reserved", async () => {
    await world.agent("rome").kill("SIGKILL");
    const name = { name: id, namespace: tenantNamespaceOf(PARIS) };
    const body = { spec: { resources: { cpu: "400" } } };
    await rome.client.patch(RESOURCE_SLICES, { name, patch: { kind: "merge", body } });
    const replica = await until("paris has judged the greed", async () => {
      const found = await paris.client.get(RESOURCE_SLICES, { ...name, namespace: tenantNamespaceOf(ROME) });
      // Before it is judged, the replica still carries the word on what was asked for earlier.
      return grantOf(found)?.reason === "TooMuch" ? found : undefined;
    });
    expect(replica.spec.resources?.["cpu"]).toBe("400");
    expect(replica.status?.resources).toEqual(RESERVED);
    expect((await quotaOf(paris, id, ROME))?.spec.resources).toEqual(RESERVED);
    await world.agent("rome").restart();
    const back = await until("rome's agent asks for what is reserved again", async () => {
      const found = await rome.client.get(RESOURCE_SLICES, name);
      return found.spec.resources?.["cpu"] === "4" ? found : undefined;
    });
    expect(back.spec.resources).toEqual(RESERVED);
  });

  test("and no process was started for any of them", () => {
    expect(world.liqo.liqoctl.calls.map(([verb]) => verb)).toEqual(["peer", "peer"]);
  });
});

test("a replica that outlives its reservation loses its pods, and gets no new ones", async () => {
  const { world, rome, paris, clock, agents, ask, seen } = await oneReservation();
  await ask({ offload: { namespaces: ["default"] } });
  const request = await seen(isActive);
  const id = request.status?.reservationName ?? "";
  await clock.until("pods may go to paris", async () => {
    const offloading = await rome.find(NAMESPACE_OFFLOADINGS, "offloading");
    return offloading?.status?.offloadingPhase === "Ready" ? true : undefined;
  });
  await rome.client.create(WHOLE_PODS, podOn(id));
  const guest = { name: "guest", namespace: `default-${ROME}` };
  await clock.until("the guest is in paris", () => paris.client.find(WHOLE_PODS, guest));
  // Nobody in rome gives anything back.
  await agents.rome.stop();
  await world.broker.admin().request("DELETE", PATH.reservation(id));
  await clock.until("paris knows that it is over", async () =>
    (await paris.find(PROVIDER_INSTRUCTIONS, `${id}-provider`)) === undefined ? true : undefined,
  );
  // The broker's clock decides, and it goes no faster than ours: without it, paris goes by its own.
  await world.broker.kill("SIGKILL");
  // Until Liqo has cordoned the Quota, which it does in its own time, a guest that was evicted may come again.
  await clock.until("no guest can come to paris, and none is left", async () => {
    const quota = await quotaOf(paris, id, ROME);
    if (quota?.spec.cordoned !== true) throw new Error(`the Quota is ${JSON.stringify(quota?.spec)}`);
    const left = [await paris.client.find(SHADOW_PODS, guest), await paris.client.find(WHOLE_PODS, guest)];
    return left.every((object) => object === undefined) ? true : undefined;
  });
  const name = { name: id, namespace: tenantNamespaceOf(ROME) };
  const replica = await paris.client.get(RESOURCE_SLICES, name);
  expect(replica.metadata.annotations).toMatchObject({ "liqo.io/cordon": "true" });
});

function grantOf({ status }: ResourceSlice) {
  return status?.conditions?.find(({ type }) => type === "Resources");
}

function quotaOf({ client }: WorldCluster, slice: string, consumerId: string) {
  return client.find(QUOTAS, {
    name: creatorUser(slice, consumerId),
    namespace: tenantNamespaceOf(consumerId),
  });
}

/** As anybody with rights in its own cluster can write it. */
function sliceTo(providerId: string, name: string): ResourceSlice {
  return {
    apiVersion: `${RESOURCE_SLICES.group}/${RESOURCE_SLICES.version}`,
    kind: RESOURCE_SLICES.kind,
    metadata: {
      name,
      namespace: tenantNamespaceOf(providerId),
      labels: {
        [LIQO_LABEL.replication]: "true",
        [LIQO_LABEL.destination]: providerId,
        [LIQO_LABEL.remoteCluster]: providerId,
      },
      annotations: { "liqo.io/create-virtual-node": "true" },
    },
    spec: { class: SLICE_CLASS, providerClusterID: providerId, resources: RESERVED },
  };
}
