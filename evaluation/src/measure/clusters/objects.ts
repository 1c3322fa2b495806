import type { JsonObject } from "@resource-broker/kube-sim";
import type { ClusterShape } from "./messages.ts";

const CPUS = ["50m", "100m", "250m", "500m", "1", "1500m"];
const MEMORIES = ["64Mi", "128Mi", "256Mi", "1Gi", "4Gi"];
const DEFAULT_NODE = { cpu: "64", memory: "263840724Ki" };

/** Node number `index`, about as large as the nodes of real clusters. */
export function nodeOf({ name, node = DEFAULT_NODE }: ClusterShape, index: number): JsonObject {
  const hostname = nodeName(name, index);
  const room = { ...node, "ephemeral-storage": "203056560Ki", pods: "110" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: hostname,
      labels: {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": hostname,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/region": "eu-west-1",
        "topology.kubernetes.io/zone": "eu-west-1a",
      },
    },
    spec: { podCIDR: "10.1.0.0/24" },
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

/** Pod number `index`: it runs, and is about as large as the pods of real clusters (2.3 kB as JSON). */
export function podOf({ name, nodes }: ClusterShape, index: number): JsonObject {
  const requests = {
    cpu: CPUS[index % CPUS.length] ?? "1",
    memory: MEMORIES[index % MEMORIES.length] ?? "1Gi",
  };
  const image = "images.example.com/web-shop:1.27.3";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `web-shop-6c8f7d5b9-${index.toString(36).padStart(5, "0")}`,
      namespace: "default",
      labels: { "app.kubernetes.io/name": "web-shop", "pod-template-hash": "6c8f7d5b9" },
      annotations: { "example.com/scrape": "true", "example.com/port": "9090" },
    },
    spec: {
      nodeName: nodeName(name, index % Math.max(1, nodes)),
      containers: [
        {
          name: "app",
          image,
          args: ["--listen=:8080", "--log-level=info"],
          ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
          env: Array.from({ length: 6 }, (_, at) => ({ name: `SETTING_${at}`, value: `value-${at}` })),
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
          restartCount: 0,
          image,
          imageID: `sha256:${"5f".repeat(32)}`,
          containerID: `containerd://${"a7".repeat(32)}`,
          state: { running: { startedAt: "2026-07-01T10:00:07Z" } },
        },
      ],
    },
  };
}

const nodeName = (cluster: string, index: number): string => `${cluster}-${index}.compute.internal`;
