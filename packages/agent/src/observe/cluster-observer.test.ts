import { countedResources } from "@resource-broker/accounting";
import type { KubernetesNode, KubernetesPod } from "@resource-broker/base";
import { NODES, PODS } from "@resource-broker/kube";
import { fakeClock } from "@resource-broker/testkit";
import { describe, expect, test } from "vitest";
import { liqoAccounting } from "../liqo/node-accounting.ts";
import { fakeCluster } from "../testing/fake-cluster.ts";
import { recordedLog } from "../testing/recorded-log.ts";
import { clusterObserver } from "./cluster-observer.ts";

function node(name: string, changes: { cpu?: string; labels?: Record<string, string> } = {}): KubernetesNode {
  const size = { cpu: changes.cpu ?? "8", memory: "32Gi" };
  return {
    metadata: { name, labels: { "topology.kubernetes.io/region": "eu", ...changes.labels } },
    status: { capacity: size, allocatable: size, conditions: [{ type: "Ready", status: "True" }] },
  };
}

function pod(name: string, cpu: string, labels: Record<string, string> = {}): KubernetesPod {
  return {
    metadata: { name, namespace: "default", labels },
    spec: { nodeName: "one", containers: [{ name: "main", resources: { requests: { cpu } } }] },
    status: { phase: "Running" },
  };
}

async function world(setUp: (cluster: ReturnType<typeof fakeCluster>) => void = () => undefined) {
  const time = fakeClock();
  const cluster = fakeCluster(time);
  const log = recordedLog();
  cluster.put(NODES, node("one"));
  setUp(cluster);
  const observer = clusterObserver(
    {
      toleratedTaints: [],
      accounting: liqoAccounting,
      resources: countedResources({ gpuResources: ["nvidia.com/gpu"], extendedResources: [] }),
    },
    { client: cluster.client, clock: time, random: () => 0.5, log },
  );
  let changes = 0;
  observer.onChange(() => void changes++);
  const started = observer.start();
  await time.advance(1);
  await started;
  const cpus = () => {
    const { allocatable, allocated } = observer.observe().totals;
    return [allocatable.cpuMillis / 1000, allocated.cpuMillis / 1000];
  };
  return { time, cluster, log, observer, cpus, changes: () => changes };
}

describe("what is observed", () => {
  test("is the sum of nodes and pods, list and events alike", async () => {
    const { time, cluster, cpus, observer } = await world((before) => before.put(PODS, pod("a", "2")));
    expect(observer.isSynced()).toBe(true);
    expect(cpus()).toEqual([8, 2]);
    cluster.put(NODES, node("two", { cpu: "4" }));
    cluster.put(PODS, pod("b", "500m"));
    await time.advance(1);
    expect(cpus()).toEqual([12, 2.5]);
    cluster.edit(PODS, { name: "b", namespace: "default" }, () => pod("b", "1500m"));
    cluster.remove(PODS, { name: "a", namespace: "default" });
    await time.advance(1);
    expect(cpus()).toEqual([12, 1.5]);
    cluster.remove(NODES, { name: "two" });
    await time.advance(1);
    expect(cpus()).toEqual([8, 1.5]);
    expect(observer.isCounted("one")).toBe(true);
    expect(observer.isCounted("two")).toBe(false);
    await observer.stop();
  });

  test("is right again after the API server was away, also about what went meanwhile", async () => {
    const { time, cluster, cpus, observer } = await world((before) => {
      before.put(PODS, pod("a", "2"));
      before.put(PODS, pod("b", "1"));
    });
    cluster.down();
    cluster.remove(PODS, { name: "a", namespace: "default" });
    await time.advance(60_000);
    expect(cpus()).toEqual([8, 3]);
    expect(observer.health().pods).toMatchObject({ state: "failing", fault: { code: "unreachable" } });
    cluster.up();
    await time.advance(20_000);
    expect(cpus()).toEqual([8, 1]);
    expect(observer.health()).toEqual({ nodes: { state: "synced" }, pods: { state: "synced" } });
    await observer.stop();
  });
});

describe("listeners", () => {
  test("hear of a whole list once, and of each event", async () => {
    const { time, cluster, changes, observer } = await world((before) => {
      for (let index = 0; index < 50; index++) before.put(PODS, pod(`p${index}`, "10m"));
    });
    const atStart = changes();
    expect(atStart).toBeLessThanOrEqual(3);
    cluster.put(PODS, pod("more", "1"));
    await time.advance(1);
    expect(changes()).toBe(atStart + 1);
    await observer.stop();
  });
});

test("a pod whose request cannot be read takes its whole node, and is reported once", async () => {
  const { time, cluster, cpus, log, observer } = await world((before) => {
    before.put(NODES, node("two", { cpu: "4" }));
    before.put(PODS, pod("odd", "1e18"));
  });
  cluster.edit(PODS, { name: "odd", namespace: "default" }, () => pod("odd", "1e18", { seen: "again" }));
  await time.advance(1);
  expect(cpus()).toEqual([4, 0]);
  expect(log.lines.filter((line) => line.includes("could not be read"))).toHaveLength(1);
  await observer.stop();
});
