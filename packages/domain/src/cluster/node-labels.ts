import { type GpuModel, MAX_GPU_MODELS, REGION_LABEL } from "../advertisement/advertisement.ts";
import { type NodeFacts, ZONE_LABEL } from "./node.ts";

/** Model name for GPUs of nodes without a model label. */
const UNKNOWN_GPU_MODEL = "unknown";

/**
 * The region and zone that every given node is in. A label on which nodes differ, or that one lacks, is left out:
 * a request that asks for a region must not end up on a node elsewhere.
 */
export function clusterLabels(nodes: Iterable<NodeFacts>): Readonly<Record<string, string>> {
  const all = [...nodes];
  const labels: Record<string, string> = {};
  const region = shared(all.map((node) => node.region));
  const zone = shared(all.map((node) => node.zone));
  if (region !== undefined) labels[REGION_LABEL] = region;
  if (zone !== undefined) labels[ZONE_LABEL] = zone;
  return labels;
}

/** Model name for the models beyond the advertisement's limit. */
const OTHER_GPU_MODELS = "other";

/**
 * How many allocatable GPUs of each model and memory size the nodes have, most first. No more than an advertisement
 * has room for: the least frequent ones are counted together, so that no GPU is lost.
 */
export function gpuModels(nodes: Iterable<NodeFacts>): readonly GpuModel[] {
  const models = new Map<string, GpuModel>();
  for (const { allocatable, gpuModel = UNKNOWN_GPU_MODEL, gpuMemoryBytes } of nodes) {
    if (allocatable.gpus === 0) continue;
    const key = `${gpuModel}/${gpuMemoryBytes}`;
    const count = (models.get(key)?.count ?? 0) + allocatable.gpus;
    const memory = gpuMemoryBytes === undefined ? {} : { memoryBytes: gpuMemoryBytes };
    models.set(key, { model: gpuModel, count, ...memory });
  }
  return atMost(MAX_GPU_MODELS, [...models.values()].sort(byCount));
}

function atMost(most: number, models: readonly GpuModel[]): readonly GpuModel[] {
  if (models.length <= most) return models;
  const rest = models.slice(most - 1).reduce((total, { count }) => total + count, 0);
  return [...models.slice(0, most - 1), { model: OTHER_GPU_MODELS, count: rest }];
}

function shared(values: readonly (string | undefined)[]): string | undefined {
  const distinct = new Set(values);
  const [value] = distinct;
  return distinct.size === 1 ? value : undefined;
}

function byCount(a: GpuModel, b: GpuModel): number {
  if (a.count !== b.count) return b.count - a.count;
  if (a.model !== b.model) return a.model < b.model ? -1 : 1;
  return (b.memoryBytes ?? 0) - (a.memoryBytes ?? 0);
}
