import type { KubernetesNode, KubernetesTaint, ResourceVector } from "@resource-broker/base";
import { type GpuModel, MAX_GPU_MODELS, REGION_LABEL } from "@resource-broker/domain";
import {
  type CountedResources,
  DEFAULT_COUNTED_RESOURCES,
  quantityReading,
  readVector,
} from "./counted-resources.ts";
import { NO_DATA_PLANE, type NodeAccounting } from "./node-accounting.ts";

const ZONE_LABEL = "topology.kubernetes.io/zone";
const GPU_MODEL_LABEL = "nvidia.com/gpu.product";
/** Of one GPU, in MiB. */
const GPU_MEMORY_LABEL = "nvidia.com/gpu.memory";
/** The labels of a node that the accounting reads, besides those of the data plane. */
export const NODE_LABELS: readonly string[] = [REGION_LABEL, ZONE_LABEL, GPU_MODEL_LABEL, GPU_MEMORY_LABEL];
const MIB = 1024 * 1024;
const MIB_COUNT = /^[0-9]{1,9}$/;

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

/** All that the accounting keeps of a Node. */
export interface NodeFacts {
  readonly name: string;
  readonly ready: boolean;
  readonly unschedulable: boolean;
  /** Stands for borrowed capacity: never lent again. */
  readonly virtual: boolean;
  readonly taints: readonly Taint[];
  readonly capacity: ResourceVector;
  readonly allocatable: ResourceVector;
  readonly region: string | undefined;
  readonly zone: string | undefined;
  readonly gpuModel: string | undefined;
  readonly gpuMemoryBytes: number | undefined;
}

export interface NodeReading {
  readonly facts: NodeFacts;
  /** Quantities that could not be read; they count as zero, so the node lends none of that resource. */
  readonly problems: readonly string[];
}

const NO_TAINTS: readonly Taint[] = Object.freeze([]);

export function nodeFacts(
  node: KubernetesNode,
  resources: CountedResources = DEFAULT_COUNTED_RESOURCES,
  accounting: NodeAccounting = NO_DATA_PLANE,
): NodeReading {
  const reading = quantityReading(resources, "down");
  const { metadata = {}, spec = {}, status = {} } = node;
  const labels = metadata.labels ?? {};
  const capacity = readVector(reading, status.capacity, "status.capacity");
  const facts: NodeFacts = {
    name: metadata.name ?? "",
    ready: isReady(node),
    unschedulable: spec.unschedulable === true,
    virtual: accounting.isVirtualNode(node),
    taints: taintsOf(spec.taints),
    capacity,
    // A node that states no allocatable amounts offers its capacity: the API server's own default.
    allocatable: status.allocatable
      ? readVector(reading, status.allocatable, "status.allocatable")
      : capacity,
    region: labels[REGION_LABEL],
    zone: labels[ZONE_LABEL],
    gpuModel: labels[GPU_MODEL_LABEL] === "" ? undefined : labels[GPU_MODEL_LABEL],
    gpuMemoryBytes: mebibytes(labels[GPU_MEMORY_LABEL]),
  };
  return { facts, problems: reading.problems };
}

function isReady(node: KubernetesNode): boolean {
  return node.status?.conditions?.find((condition) => condition.type === "Ready")?.status === "True";
}

function taintsOf(taints: readonly KubernetesTaint[] | undefined): readonly Taint[] {
  if (!taints || taints.length === 0) return NO_TAINTS;
  return taints.map(({ key, value, effect }) => ({ key, value: value ?? "", effect }));
}

function mebibytes(text: string | undefined): number | undefined {
  return text !== undefined && MIB_COUNT.test(text) ? Number(text) * MIB : undefined;
}

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
