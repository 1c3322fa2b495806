import { resourceVector } from "@resource-broker/base";
import { MAX_GPU_MODELS } from "@resource-broker/domain";
import { describe, expect, it } from "vitest";
import { clusterLabels, gpuModels } from "./node.ts";
import { aNode } from "./testing/facts.ts";

describe("cluster labels", () => {
  it("carry the region and zone that all nodes share", () => {
    const node = aNode({ region: "eu-west", zone: "eu-west-b" });
    expect(clusterLabels([node, node])).toEqual({
      "topology.kubernetes.io/region": "eu-west",
      "topology.kubernetes.io/zone": "eu-west-b",
    });
  });

  it("leave out what nodes differ in", () => {
    const nodes = [aNode({ region: "eu-west", zone: "a" }), aNode({ region: "eu-west", zone: "b" })];
    expect(clusterLabels(nodes)).toEqual({ "topology.kubernetes.io/region": "eu-west" });
  });

  it("leave out what one node lacks", () => {
    expect(clusterLabels([aNode({ region: "eu-west" }), aNode()])).toEqual({});
  });

  it("are empty without nodes", () => {
    expect(clusterLabels([])).toEqual({});
  });
});

describe("GPU models", () => {
  const gpuNode = (gpus: number, gpuModel?: string, gpuMemoryBytes?: number) =>
    aNode({ allocatable: resourceVector({ gpus }), gpuModel, gpuMemoryBytes });

  it("count GPUs by model and memory, most first", () => {
    const nodes = [
      gpuNode(1, "T4", 16),
      gpuNode(4, "A100", 40),
      gpuNode(8, "A100", 80),
      gpuNode(4, "A100", 80),
    ];
    expect(gpuModels(nodes)).toEqual([
      { model: "A100", count: 12, memoryBytes: 80 },
      { model: "A100", count: 4, memoryBytes: 40 },
      { model: "T4", count: 1, memoryBytes: 16 },
    ]);
  });

  it("are no more than an advertisement has room for, and lose no GPU", () => {
    const nodes = Array.from({ length: MAX_GPU_MODELS + 1 }, (_, index) =>
      gpuNode(index + 1, `model-${index}`),
    );
    const models = gpuModels(nodes);
    expect(models).toHaveLength(MAX_GPU_MODELS);
    expect(models.at(-1)).toEqual({ model: "other", count: 1 + 2 });
    expect(models.reduce((sum, { count }) => sum + count, 0)).toBe(
      nodes.reduce((sum, { allocatable }) => sum + allocatable.gpus, 0),
    );
    expect(gpuModels(nodes.slice(1))).toHaveLength(MAX_GPU_MODELS);
    expect(gpuModels(nodes.slice(1)).at(-1)?.model).toBe("model-1");
  });

  it("say unknown for GPUs without a label and skip nodes without GPUs", () => {
    expect(gpuModels([gpuNode(2), gpuNode(0, "A100"), gpuNode(2, "A100")])).toEqual([
      { model: "A100", count: 2 },
      { model: "unknown", count: 2 },
    ]);
  });
});
