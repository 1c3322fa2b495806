import type { JsonObject } from "@resource-broker/kube-sim";

const HEARTBEAT = "2026-07-01T10:00:00Z";
const ZONES = ["eu-west-1a", "eu-west-1b", "eu-west-1c"];
const GPU_EVERY = 50;
const IMAGES = 40;

export const nodeName = (index: number): string =>
  `ip-10-${index >> 8}-${index & 255}-7.eu-west-1.compute.internal`;

/** Node number `index`, about as large as the nodes of real clusters. */
export function makeNode(index: number, version: number): JsonObject {
  const name = nodeName(index);
  const hasGpus = index % GPU_EVERY === 0;
  const amounts = {
    cpu: "64",
    "ephemeral-storage": "203056560Ki",
    memory: "263840724Ki",
    pods: "110",
    ...(hasGpus ? { "nvidia.com/gpu": "8" } : {}),
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      uid: `5a0e3c52-7f0d-4c41-9d7e-${index.toString(16).padStart(12, "0")}`,
      resourceVersion: String(version),
      creationTimestamp: HEARTBEAT,
      labels: {
        "beta.kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m6i.16xlarge",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": ZONES[index % ZONES.length] ?? "",
        ...(hasGpus
          ? { "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", "nvidia.com/gpu.memory": "81920" }
          : {}),
      },
    },
    spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"], providerID: `aws:///eu-west-1a/i-${index}` },
    status: {
      capacity: amounts,
      allocatable: { ...amounts, cpu: "63770m", memory: "261000000Ki" },
      conditions: ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map((type) => ({
        type,
        status: type === "Ready" ? "True" : "False",
        lastHeartbeatTime: HEARTBEAT,
        lastTransitionTime: HEARTBEAT,
        reason: `Kubelet${type}`,
        message: `kubelet reports ${type}`,
      })),
      addresses: [
        { type: "InternalIP", address: "10.0.0.1" },
        { type: "Hostname", address: name },
      ],
      images: Array.from({ length: IMAGES }, (_, at) => ({
        names: [
          `images.example.com/image-${at}@sha256:${"5f".repeat(32)}`,
          `images.example.com/image-${at}:1`,
        ],
        sizeBytes: 100_000_000 + at,
      })),
    },
  };
}
