import type { JsonObject } from "@resource-broker/kube-sim";

const CPU_MILLIS = [50, 100, 250, 500, 1000, 1500];
const MEMORIES = ["64Mi", "128Mi", "256Mi", "1Gi", "4Gi"];
const ROOM = { cpu: "64", memory: "263840724Ki", "ephemeral-storage": "203056560Ki", pods: "110" };
const IMAGE = "images.example.com/shop-api:1.27.3";
const HASH = "5f".repeat(32);

type Texts = Readonly<Record<string, string>>;

/** A node that is ready, about as large as JSON as those of real clusters. `room` adds to what it has. */
export function typicalNode(name: string, more: { readonly room?: Texts } = {}): JsonObject {
  const room = { ...ROOM, ...more.room };
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
      },
    },
    spec: { podCIDR: "10.1.0.0/24", providerID: `aws:///eu-west-1a/${name}` },
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

export function typicalPodName(index: number): string {
  return `shop-api-7d9c5b6f4d-${index.toString(36).padStart(5, "0")}`;
}

/** What pod number `index` asks for, so that the whole can be counted a second time. */
function typicalCpuMillis(index: number): number {
  return CPU_MILLIS[index % CPU_MILLIS.length] ?? 0;
}

export function typicalRequests(index: number): Texts {
  return { cpu: `${typicalCpuMillis(index)}m`, memory: MEMORIES[index % MEMORIES.length] ?? "1Gi" };
}

export interface TypicalPod {
  readonly name: string;
  readonly node: string;
  readonly requests: Texts;
}

/** A pod that runs, about as large as JSON as those of real clusters: 1.6 kB. */
export function typicalPod({ name, node, requests }: TypicalPod): JsonObject {
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
          image: IMAGE,
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
          restartCount: 0,
          image: IMAGE,
          imageID: `sha256:${HASH}`,
          containerID: `containerd://${HASH}`,
          state: { running: { startedAt: "2026-07-01T10:00:07Z" } },
        },
      ],
    },
  };
}
