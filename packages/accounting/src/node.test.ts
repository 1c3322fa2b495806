import { type KubernetesNode, resourceVector } from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { nodeFacts } from "./node.ts";
import { NO_DATA_PLANE } from "./node-accounting.ts";

const GI = 1024 ** 3;

const NODE: KubernetesNode = {
  metadata: {
    name: "gpu-1",
    labels: {
      "topology.kubernetes.io/region": "eu-west",
      "topology.kubernetes.io/zone": "eu-west-b",
      "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
      "nvidia.com/gpu.memory": "81920",
    },
  },
  spec: { taints: [{ key: "gpu", effect: "NoSchedule" }] },
  status: {
    capacity: {
      cpu: "64",
      memory: "256Gi",
      "ephemeral-storage": "1000Gi",
      "nvidia.com/gpu": "8",
      pods: "110",
    },
    allocatable: { cpu: "63500m", memory: "250Gi", "ephemeral-storage": "900Gi", "nvidia.com/gpu": "8" },
    conditions: [
      { type: "MemoryPressure", status: "False" },
      { type: "Ready", status: "True" },
    ],
  },
};

describe("node facts", () => {
  it("keep what the accounting needs of a node", () => {
    expect(nodeFacts(NODE)).toEqual({
      facts: {
        name: "gpu-1",
        ready: true,
        unschedulable: false,
        virtual: false,
        taints: [{ key: "gpu", value: "", effect: "NoSchedule" }],
        capacity: resourceVector({
          cpuMillis: 64_000,
          memoryBytes: 256 * GI,
          storageBytes: 1000 * GI,
          gpus: 8,
        }),
        allocatable: resourceVector({
          cpuMillis: 63_500,
          memoryBytes: 250 * GI,
          storageBytes: 900 * GI,
          gpus: 8,
        }),
        region: "eu-west",
        zone: "eu-west-b",
        gpuModel: "NVIDIA-A100-SXM4-80GB",
        gpuMemoryBytes: 80 * GI,
      },
      problems: [],
    });
  });

  it("take the capacity where nothing is said to be allocatable", () => {
    const { facts } = nodeFacts({ status: { capacity: { cpu: "2" } } });
    expect(facts.allocatable).toEqual(resourceVector({ cpuMillis: 2000 }));
  });

  it("count an unreadable amount as zero and say so", () => {
    const { facts, problems } = nodeFacts({
      status: { capacity: { cpu: "4" }, allocatable: { cpu: "four", memory: "1Gi" } },
    });
    expect(facts.allocatable).toEqual(resourceVector({ memoryBytes: GI }));
    expect(problems).toEqual([expect.stringMatching(/^status\.allocatable\.cpu: "four" is not a quantity/)]);
  });

  it.each(["81920MiB", "", "-1", "1e3", "9999999999"])("ignore the GPU memory label %j", (memory) => {
    const { facts } = nodeFacts({ metadata: { labels: { "nvidia.com/gpu.memory": memory } } });
    expect(facts.gpuMemoryBytes).toBeUndefined();
  });

  it.each([
    ["True", true],
    ["False", false],
    ["Unknown", false],
  ])("with the condition Ready=%s say ready %s", (status, ready) => {
    expect(nodeFacts({ status: { conditions: [{ type: "Ready", status }] } }).facts.ready).toBe(ready);
  });

  it("tell a virtual node, as the data plane recognizes it", () => {
    const accounting = { ...NO_DATA_PLANE, isVirtualNode: () => true };
    expect(nodeFacts({}, undefined, accounting).facts.virtual).toBe(true);
  });
});
