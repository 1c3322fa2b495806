import type { JsonObject } from "@resource-broker/kube-sim";
import { clusterDefinitions } from "./kinds.ts";

/** What a cluster of a world consists of. */
export interface ClusterPlan {
  /** Its ID, too. */
  readonly name: string;
  readonly nodes: readonly NodePlan[];
  /** In the namespace default; they are bound to nodes as kube-scheduler would. */
  readonly pods?: readonly PodPlan[];
  /** Flags of its agent, beside those for broker, cluster, ports and folders. */
  readonly flags?: readonly string[];
  /** False: nobody speaks for it before the test does. */
  readonly hasAgent?: boolean;
  /** True: its agent reaches the broker through a proxy that can be disturbed. */
  readonly isBehindProxy?: boolean;
  /** How its agent reaches the broker; `kubernetes` needs a world with a hub. Absent: http. */
  readonly transport?: "http" | "kubernetes";
}

export interface NodePlan {
  readonly cpu: string;
  readonly memory: string;
  readonly region?: string;
  readonly ephemeralStorage?: string;
  readonly gpus?: { readonly count: string; readonly model: string };
  /** Further resources by their Kubernetes name. */
  readonly others?: Readonly<Record<string, string>>;
}

export interface PodPlan {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
}

/** Everything there is before the first agent starts. */
export function plannedObjects({ name, nodes, pods = [] }: ClusterPlan): JsonObject[] {
  return [
    ...clusterDefinitions(),
    ...nodes.map((node, index) => nodeObject(`${name}-${index + 1}`, node)),
    ...pods.map(podObject),
  ];
}

export function nodeObject(name: string, plan: NodePlan): JsonObject {
  const { cpu, memory, region, ephemeralStorage, gpus, others } = plan;
  const room = {
    cpu,
    memory,
    pods: "110",
    ...(ephemeralStorage === undefined ? {} : { "ephemeral-storage": ephemeralStorage }),
    ...(gpus === undefined ? {} : { "nvidia.com/gpu": gpus.count }),
    ...others,
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/hostname": name,
        ...(region === undefined ? {} : { "topology.kubernetes.io/region": region }),
        ...(gpus === undefined ? {} : { "nvidia.com/gpu.product": gpus.model }),
      },
    },
    spec: {},
    status: {
      capacity: room,
      allocatable: room,
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "the node is ready" }],
    },
  };
}

export function podObject({ name, cpu, memory }: PodPlan): JsonObject {
  const container = { name: "main", image: "example/app:1", resources: { requests: { cpu, memory } } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { containers: [container] },
  };
}
