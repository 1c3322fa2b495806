import { existsSync } from "node:fs";
import {
  LIQO_LABEL,
  NAMESPACE_OFFLOADINGS,
  QUOTAS,
  RESOURCE_SLICES,
  tenantNamespaceOf,
} from "@resource-broker/agent";
import { type AdvertisementDTO, PATH, type ResourceRequest } from "@resource-broker/contract";
import {
  creatorUser,
  RESOURCE_REQUESTS,
  until,
  WHOLE_NODES,
  WHOLE_PODS,
  type WholePod,
  type WorldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { askFor, untilActive } from "../../testing/resource-request.ts";
import { liqoIdOf, type LiqoWorld } from "./liqo-world.ts";
import { tracesIn, untilClean } from "./traces.ts";

const START_TIMEOUT_MS = 600_000;
const ROME = liqoIdOf("rome");
const PARIS = liqoIdOf("paris");
const SLICES = tenantNamespaceOf(PARIS);

export const TWO_CLUSTERS = [
  { name: "rome", nodes: [{ cpu: "4", memory: "16Gi" }] },
  { name: "paris", nodes: [{ cpu: "16", memory: "64Gi" }] },
];

const LENT = /=(\/.*\/liqo-kubeconfig-[^/]+)\/kubeconfig$/;

/** Two loans of one provider from the first request to the last trace, wherever the API servers come from. */
export function describeLiqoWay(where: string, start: () => Promise<LiqoWorld>): void {
  describe(`two loans through Liqo on ${where}`, () => {
    let world: LiqoWorld;
    let rome: WorldCluster;
    let paris: WorldCluster;
    let [first, second] = ["", ""];

    beforeAll(async () => {
      world = await start();
      rome = world.cluster("rome");
      paris = world.cluster("paris");
      return world.dispose;
    }, START_TIMEOUT_MS);

    const delivered = async (name: string): Promise<{ id: string; request: ResourceRequest }> => {
      const { reservationName, request } = await untilActive(rome, name);
      return { id: reservationName, request };
    };
    /** What liqoctl was started with; the files it was lent, which are written anew each time, under one name. */
    const calls = (): string[][] =>
      world.liqo.liqoctl.calls.map((args) => args.map((arg) => arg.replace(LENT, "=PRIVATE")));
    const clusterFlags = (timeout: string): string[] => [
      "--kubeconfig=PRIVATE",
      "--remote-kubeconfig=PRIVATE",
      "--namespace=liqo",
      "--remote-namespace=liqo",
      `--timeout=${timeout}`,
    ];

    test("the first becomes a virtual node of exactly its size", async () => {
      await askFor(rome, "first", { offload: { namespaces: ["default"] } });
      const { id, request } = await delivered("first");
      first = id;
      expect(request.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "Peered", status: "True", reason: "NodeReady" }),
      );
      const node = await rome.client.get(WHOLE_NODES, { name: id });
      expect(node.status?.allocatable).toEqual({
        cpu: "4",
        memory: "8Gi",
        pods: "110",
        "ephemeral-storage": "20Gi",
      });
      expect(node.metadata.labels).toMatchObject({ [LIQO_LABEL.remoteCluster]: PARIS });
    });

    test("liqoctl was started once, with exactly these arguments", () => {
      expect(calls()).toEqual([
        [
          "peer",
          ...clusterFlags("10m"),
          "--create-resource-slice=false",
          "--create-virtual-node=false",
          "--gw-server-service-type=NodePort",
        ],
      ]);
    });

    test("the kubeconfigs that it was lent are gone", async () => {
      const lent = world.liqo.liqoctl.calls.flat().flatMap((arg) => LENT.exec(arg)?.[1] ?? []);
      expect(lent).toHaveLength(2);
      await until("they are removed", async () => lent.every((path) => !existsSync(path)) || undefined);
    });

    test("the provider's agent has granted it, and Liqo holds its pods to that", async () => {
      const replica = await paris.client.get(RESOURCE_SLICES, {
        name: first,
        namespace: tenantNamespaceOf(ROME),
      });
      expect(replica.status?.conditions).toContainEqual(
        expect.objectContaining({ type: "Resources", status: "Accepted" }),
      );
      const quota = await paris.client.get(QUOTAS, {
        name: creatorUser(first, ROME),
        namespace: tenantNamespaceOf(ROME),
      });
      expect(quota.spec.resources).toMatchObject({ cpu: "4", memory: "8Gi" });
    });

    test("borrowed room is not advertised", async () => {
      const { body } = await world.broker.admin().request("GET", PATH.advertisement("rome"));
      expect(body).toMatchObject({ resources: { allocatable: { cpu: "4", memory: "16Gi" } } });
    });

    test("a pod on it runs in paris and counts as use of the reservation", async () => {
      await rome.until(
        NAMESPACE_OFFLOADINGS,
        "offloading",
        ({ status }) => status?.offloadingPhase === "Ready",
      );
      await rome.client.create(WHOLE_PODS, podOn(first));
      const guest = { name: "guest", namespace: `default-${ROME}` };
      await until("the guest is in paris", async () => {
        const found = await paris.client.find(WHOLE_PODS, guest);
        if (found !== undefined) return found;
        throw new Error(world.liqo.troubles.slice(-3).join("; "));
      });
      const used = await until("paris tells of its use", async () => {
        const { body } = await world.broker.admin().request("GET", PATH.advertisement("paris"));
        const { usage = [] } = body as AdvertisementDTO;
        const own = usage.find(({ reservationID }) => reservationID === first);
        if (own?.used.cpu !== "0") return own?.used;
        throw new Error(JSON.stringify(usage));
      });
      expect(used).toMatchObject({ cpu: "1", memory: "1Gi" });
    });

    test("the second gets a slice and a node of its own, and no second peering", async () => {
      await askFor(rome, "second", { requestedCPU: "2", requestedMemory: "4Gi" });
      second = (await delivered("second")).id;
      const node = await rome.client.get(WHOLE_NODES, { name: second });
      expect(node.status?.allocatable).toMatchObject({ cpu: "2", memory: "4Gi" });
      expect(
        (await tracesIn(rome)).filter((trace) => /^(Node|ResourceSlice|VirtualNode) /.test(trace)),
      ).toEqual(
        [first, second].flatMap((id) => [`Node ${id}`, `ResourceSlice ${id}`, `VirtualNode ${id}`]).sort(),
      );
      expect(world.liqo.liqoctl.calls).toHaveLength(1);
    });

    test("released, the first goes with its pod and its offloading, and leaves the second alone", async () => {
      const before = await rome.client.get(WHOLE_NODES, { name: second });
      await rome.client.delete(RESOURCE_REQUESTS, { name: "first", namespace: "default" });
      const left = await until("nothing of the first is left in rome", async () => {
        const traces = await tracesIn(rome);
        const itsOwn = traces.filter((trace) => trace.includes(first) || trace.startsWith("NamespaceOff"));
        if (itsOwn.length === 0) return traces;
        throw new Error(itsOwn.join(", "));
      });
      expect(left).toContain(`ResourceSlice ${second}`);
      await rome.untilGone(WHOLE_PODS, "guest");
      expect(await rome.client.get(RESOURCE_SLICES, { name: second, namespace: SLICES })).not.toHaveProperty(
        "metadata.deletionTimestamp",
      );
      expect((await rome.client.get(WHOLE_NODES, { name: second })).metadata.uid).toBe(before.metadata.uid);
      expect(world.liqo.liqoctl.calls).toHaveLength(1);
    });

    test("released, the last takes the peering with it, and nothing is left anywhere", async () => {
      await rome.client.delete(RESOURCE_REQUESTS, { name: "second", namespace: "default" });
      await untilClean([rome, paris]);
      expect(calls().slice(1)).toEqual([["unpeer", ...clusterFlags("2m")]]);
      await until("paris can lend all of it again", async () => {
        const { body } = await world.broker.admin().request("GET", PATH.advertisement("paris"));
        return (body as AdvertisementDTO).resources.available.cpu === "16" || undefined;
      });
    });
  });
}

export function podOn(nodeName: string): WholePod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "guest", namespace: "default" },
    spec: {
      nodeName,
      // There is no kubelet on a real control plane: it goes as soon as it is told to.
      terminationGracePeriodSeconds: 0,
      containers: [
        { name: "main", image: "example/app:1", resources: { requests: { cpu: "1", memory: "1Gi" } } },
      ],
    },
  };
}
