import { FOREIGN_CLUSTERS, LIQO_LABEL, NAMESPACE_OFFLOADINGS } from "@resource-broker/agent";
import {
  listingOf,
  RESOURCE_REQUESTS,
  until,
  WHOLE_NODES,
  WHOLE_PODS,
  type WorldCluster,
} from "@resource-broker/testkit";
import { beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { tracesIn } from "../liqo/testing/traces.ts";
import { askFor, untilActive } from "../testing/resource-request.ts";
import { podFor, type RealLiqoWorld, startRealLiqoWorld } from "./testing/real-liqo-world.ts";

const PATIENCE_MS = 600_000;
const GPUS = { count: "4", model: "NVIDIA-A100" };

describe("two clusters with the real Liqo", () => {
  let world: RealLiqoWorld;
  let rome: WorldCluster;
  let paris: WorldCluster;

  beforeAll(async () => {
    world = await startRealLiqoWorld([
      { name: "rome", nodes: [{ cpu: "4", memory: "16Gi", ephemeralStorage: "50Gi" }] },
      { name: "paris", nodes: [{ cpu: "16", memory: "64Gi", ephemeralStorage: "200Gi", gpus: GPUS }] },
    ]);
    rome = world.cluster("rome");
    paris = world.cluster("paris");
    return world.dispose;
  }, PATIENCE_MS);

  test.each(["rome", "paris"])("Liqo runs in %s", async (name) => {
    onTestFailed(() => world.tellLastWords());
    const { liqoctl, kubelet } = world.liqo.cluster(name);
    expect(await liqoctl(["info"])).toMatch(/Liqo is healthy/);
    const running = kubelet.processes().filter(({ pid }) => pid !== undefined);
    const programs = running.map(({ program }) => program);
    expect(programs.sort()).toEqual(["crd-replicator", "liqo-controller-manager", "webhook"]);
    expect(await listingOf(world.cluster(name).client)).toContainEqual(
      expect.stringMatching(`^Node ${name}-1 `),
    );
  });

  test("a person peers and unpeers with the documented kubeconfig", async () => {
    onTestFailed(() => world.tellLastWords());
    const { liqoctl } = world.liqo.cluster("paris");
    const remote = `--remote-kubeconfig=${world.liqo.kubeconfigs("paris")}/rome.kubeconfig`;
    await liqoctl(["peer", remote, "--networking-disabled", "--create-resource-slice=false"]);
    // liqoctl ends before Liqo has made the ForeignCluster, without which unpeer fails.
    await until("Liqo says that rome provides", async () => {
      const found = await paris.client.find(FOREIGN_CLUSTERS, { name: "liqo-rome" });
      return found?.status?.role === "Provider" || undefined;
    });
    expect(await tracesIn(rome)).toContain("Tenant liqo-paris");
    await liqoctl(["unpeer", remote, "--skip-confirm"]);
    expect(await tracesIn(rome)).not.toContain("Tenant liqo-paris");
  });

  test("a reservation becomes a ready node of exactly its size, and a pod on it runs in paris", async () => {
    onTestFailed(() => world.tellLastWords());
    await askFor(rome, "first", {
      requestedGPU: "1",
      requestedStorage: "30Gi",
      offload: { namespaces: ["default"] },
    });
    const { reservationName } = await untilActive(rome, "first");
    const node = await rome.client.get(WHOLE_NODES, { name: reservationName });
    expect(node.status?.allocatable).toEqual({
      cpu: "4",
      memory: "8Gi",
      pods: "110",
      "ephemeral-storage": "30Gi",
      "nvidia.com/gpu": "1",
    });
    expect(node.metadata.labels).toMatchObject({ [LIQO_LABEL.remoteCluster]: "liqo-paris" });
    await rome.until(
      NAMESPACE_OFFLOADINGS,
      "offloading",
      ({ status }) => status?.offloadingPhase === "Ready",
    );
    await rome.client.create(WHOLE_PODS, podFor(reservationName));
    await rome.until(WHOLE_PODS, "guest", ({ status }) => status?.phase === "Running");
    const guest = { name: "guest", namespace: "default-liqo-rome" };
    expect((await paris.client.get(WHOLE_PODS, guest)).status?.phase).toBe("Running");
    await rome.client.delete(RESOURCE_REQUESTS, { name: "first", namespace: "default" });
    await rome.untilGone(WHOLE_PODS, "guest");
  });
});
