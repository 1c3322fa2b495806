import type { JsonObject } from "@resource-broker/kube-sim";

const CPU_MILLIS = [50, 100, 250, 500, 1000, 1500];
const MEMORIES = ["64Mi", "128Mi", "256Mi", "1Gi", "4Gi"];
/** The first node has them all: one of them taken is more than a tenth, which is told at once. */
const GPUS = "8";

const nodeName = (index: number): string => `ip-10-${index >> 8}-${index & 255}-7.compute.internal`;

export function makeNode(index: number): JsonObject {
  const name = nodeName(index);
  const room = {
    cpu: "64",
    "ephemeral-storage": "203056560Ki",
    memory: "263840724Ki",
    pods: "110",
    ...(index === 0 ? { "nvidia.com/gpu": GPUS } : {}),
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m6i.16xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": "eu-west-1a",
        ...(index === 0 ? { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB" } : {}),
      },
    },
    spec: { podCIDR: "10.1.0.0/24", providerID: `aws:///eu-west-1a/i-${index}` },
    status: {
      capacity: room,
      allocatable: room,
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
        type,
        status: type === "Ready" ? "True" : "False",
        reason: `Kubelet${type}`,
        message: `kubelet reports ${type}`,
      })),
    },
  };
}

export const podName = (index: number): string =>
  `shop-api-7d9c5b6f4d-${index.toString(36).padStart(5, "0")}`;

/** What the pod asks for, so that the whole can be counted a second time. */
export const podMillis = (index: number): number => CPU_MILLIS[index % CPU_MILLIS.length] ?? 0;

/** Pod number `index`, about as large as the pods of real clusters. */
export function makePod(
  index: number,
  { nodes, restarts = 0 }: { nodes: number; restarts?: number },
): JsonObject {
  const requests = { cpu: `${podMillis(index)}m`, memory: MEMORIES[index % MEMORIES.length] ?? "1Gi" };
  return podWith({ name: podName(index), node: nodeName(index % nodes), requests, restarts });
}

/** A pod that takes one of the GPUs and nothing else. */
export function makeGpuPod(): JsonObject {
  return podWith({ name: "training", node: nodeName(0), requests: { "nvidia.com/gpu": "1" }, restarts: 0 });
}

interface PodPlan {
  readonly name: string;
  readonly node: string;
  readonly requests: Readonly<Record<string, string>>;
  readonly restarts: number;
}

function podWith({ name, node, requests, restarts }: PodPlan): JsonObject {
  const hash = "5f".repeat(32);
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: "default",
      labels: { "app.kubernetes.io/name": "shop-api", "pod-template-hash": "7d9c5b6f4d" },
      annotations: { "prometheus.io/port": "9090", "prometheus.io/scrape": "true" },
    },
    spec: {
      nodeName: node,
      containers: [
        {
          name: "app",
          image: "images.example.com/shop-api:1.27.3",
          args: ["--listen=:8080", "--log-level=info"],
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          env: Array.from({ length: 6 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `value-${at}` })),
          resources: { requests, limits: requests },
          readinessProbe: { httpGet: { path: "/healthz", port: "http" }, periodSeconds: 10 },
        },
      ],
    },
    status: {
      phase: "Running",
      conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map((type) => ({
        type,
        status: "True",
        lastTransitionTime: "2026-07-01T10:00:07Z",
      })),
      containerStatuses: [
        {
          name: "app",
          ready: true,
          restartCount: restarts,
          image: "images.example.com/shop-api:1.27.3",
          imageID: `sha256:${hash}`,
          containerID: `containerd://${hash}`,
          state: { running: { startedAt: "2026-07-01T10:00:07Z" } },
        },
      ],
    },
  };
}
