import {
  app,
  type CaseRow,
  GI,
  init,
  MI,
  type PodCase,
  podCase,
  resized,
  resizePending,
  SANDBOX_CLASS,
  SANDBOX_OVERHEAD,
  sidecar,
} from "./pod-case.ts";

const CONTAINERS: readonly CaseRow[] = [
  [
    "one container is what it asks for",
    { containers: [app({ cpu: "500m", memory: "256Mi" })] },
    { cpuMillis: 500, memoryBytes: 256 * MI },
  ],
  [
    "two containers is their sum",
    { containers: [app({ cpu: "500m", memory: "256Mi" }), app({ cpu: "1", memory: "1Gi" }, "web")] },
    { cpuMillis: 1500, memoryBytes: 1280 * MI },
  ],
  ["a best-effort pod is nothing", { containers: [app({})] }, {}],
  [
    "decimal units counts thousands",
    { containers: [app({ cpu: "1", memory: "500M" })] },
    { cpuMillis: 1000, memoryBytes: 500_000_000 },
  ],
  [
    "fractions and exponents is exact",
    { containers: [app({ cpu: "0.25", memory: "1.5Gi" }), app({ cpu: "15e-1", memory: "1e6" }, "web")] },
    { cpuMillis: 1750, memoryBytes: 1.5 * GI + 1_000_000 },
  ],
  [
    "ephemeral storage is storage",
    { containers: [app({ cpu: "100m", "ephemeral-storage": "10Gi" })] },
    { cpuMillis: 100, storageBytes: 10 * GI },
  ],
  [
    "a GPU container has its GPU",
    { containers: [app({ cpu: "4", memory: "16Gi", "nvidia.com/gpu": "1" })] },
    { cpuMillis: 4000, memoryBytes: 16 * GI, gpus: 1 },
  ],
  [
    "two GPU containers adds their GPUs",
    { containers: [app({ "nvidia.com/gpu": "2" }), app({ "nvidia.com/gpu": "6" }, "worker")] },
    { gpus: 8 },
  ],
  [
    "an unlisted extended resource leaves it out",
    { containers: [app({ cpu: "1", "example.com/fpga": "3" })] },
    { cpuMillis: 1000 },
  ],
  [
    "huge pages leaves them out",
    { containers: [app({ cpu: "1", memory: "1Gi", "hugepages-2Mi": "64Mi" })] },
    { cpuMillis: 1000, memoryBytes: GI },
  ],
];

const INIT_CONTAINERS: readonly CaseRow[] = [
  [
    "a small init container is the app's request",
    {
      containers: [app({ cpu: "1", memory: "1Gi" })],
      initContainers: [init({ cpu: "500m", memory: "64Mi" })],
    },
    { cpuMillis: 1000, memoryBytes: GI },
  ],
  [
    "a large init container is the init request",
    { containers: [app({ cpu: "1", memory: "1Gi" })], initContainers: [init({ cpu: "4", memory: "8Gi" })] },
    { cpuMillis: 4000, memoryBytes: 8 * GI },
  ],
  [
    "an init container large in CPU only takes the larger of each",
    { containers: [app({ cpu: "1", memory: "4Gi" })], initContainers: [init({ cpu: "3", memory: "1Gi" })] },
    { cpuMillis: 3000, memoryBytes: 4 * GI },
  ],
  [
    "several init containers takes their maximum",
    {
      containers: [app({ cpu: "1", memory: "1Gi" })],
      initContainers: [
        init({ cpu: "2", memory: "512Mi" }, "first"),
        init({ cpu: "1", memory: "3Gi" }, "second"),
      ],
    },
    { cpuMillis: 2000, memoryBytes: 3 * GI },
  ],
  [
    "storage used only while initializing has that storage",
    { containers: [app({ cpu: "1" })], initContainers: [init({ "ephemeral-storage": "5Gi" })] },
    { cpuMillis: 1000, storageBytes: 5 * GI },
  ],
];

const SIDECARS: readonly CaseRow[] = [
  [
    "a sidecar adds it to the app",
    {
      containers: [app({ cpu: "1", memory: "1Gi" })],
      initContainers: [sidecar({ cpu: "200m", memory: "128Mi" })],
    },
    { cpuMillis: 1200, memoryBytes: 1152 * MI },
  ],
  [
    "a sidecar before an init container runs beside it",
    { containers: [app({ cpu: "1" })], initContainers: [sidecar({ cpu: "500m" }), init({ cpu: "2" })] },
    { cpuMillis: 2500 },
  ],
  [
    "a sidecar after an init container does not run beside it",
    { containers: [app({ cpu: "1" })], initContainers: [init({ cpu: "2" }), sidecar({ cpu: "500m" })] },
    { cpuMillis: 2000 },
  ],
  [
    "an init container between two sidecars runs beside the first",
    {
      containers: [app({ cpu: "1" })],
      initContainers: [sidecar({ cpu: "300m" }), init({ cpu: "3" }), sidecar({ cpu: "400m" }, "proxy")],
    },
    { cpuMillis: 3300 },
  ],
  [
    "a GPU sidecar adds its GPU",
    { containers: [app({ "nvidia.com/gpu": "1" })], initContainers: [sidecar({ "nvidia.com/gpu": "1" })] },
    { gpus: 2 },
  ],
];

const OVERHEAD: readonly CaseRow[] = [
  [
    "a sandboxed pod adds the overhead",
    {
      containers: [app({ cpu: "1", memory: "1Gi" })],
      runtimeClassName: SANDBOX_CLASS,
      overhead: SANDBOX_OVERHEAD,
    },
    { cpuMillis: 1250, memoryBytes: 1144 * MI },
  ],
  [
    "a sandboxed best-effort pod is the overhead",
    { runtimeClassName: SANDBOX_CLASS, overhead: SANDBOX_OVERHEAD },
    { cpuMillis: 250, memoryBytes: 120 * MI },
  ],
  [
    "a sandboxed pod with a large init container adds the overhead to that",
    {
      containers: [app({ cpu: "1" })],
      initContainers: [init({ cpu: "2" })],
      runtimeClassName: SANDBOX_CLASS,
      overhead: SANDBOX_OVERHEAD,
    },
    { cpuMillis: 2250, memoryBytes: 120 * MI },
  ],
];

const POD_LEVEL: readonly CaseRow[] = [
  [
    "pod-level CPU and memory replaces the sum",
    {
      containers: [app({ cpu: "1", memory: "1Gi" }), app({ cpu: "500m", memory: "512Mi" }, "web")],
      resources: { requests: { cpu: "3", memory: "4Gi" } },
      kubectlLeavesOut: "pod-level",
    },
    { cpuMillis: 3000, memoryBytes: 4 * GI },
  ],
  [
    "pod-level CPU alone leaves the memory of the containers",
    {
      containers: [app({ cpu: "1", memory: "1Gi" })],
      resources: { requests: { cpu: "2" } },
      kubectlLeavesOut: "pod-level",
    },
    { cpuMillis: 2000, memoryBytes: GI },
  ],
  [
    "pod-level requests over empty containers is what the pod states",
    { resources: { requests: { cpu: "1500m", memory: "2Gi" } }, kubectlLeavesOut: "pod-level" },
    { cpuMillis: 1500, memoryBytes: 2 * GI },
  ],
  [
    "pod-level CPU beside a GPU container keeps the GPU",
    {
      containers: [app({ cpu: "1", "nvidia.com/gpu": "1", "ephemeral-storage": "1Gi" })],
      resources: { requests: { cpu: "2", memory: "1Gi" } },
      kubectlLeavesOut: "pod-level",
    },
    { cpuMillis: 2000, memoryBytes: GI, gpus: 1, storageBytes: GI },
  ],
  [
    "pod-level CPU over init containers and sidecars replaces their maximum",
    {
      containers: [app({ cpu: "1" })],
      initContainers: [sidecar({ cpu: "500m" }), init({ cpu: "2" })],
      resources: { requests: { cpu: "4" } },
      kubectlLeavesOut: "pod-level",
    },
    { cpuMillis: 4000 },
  ],
  [
    "a sandboxed pod with pod-level CPU adds the overhead on top",
    {
      containers: [app({ cpu: "1" })],
      resources: { requests: { cpu: "2" } },
      runtimeClassName: SANDBOX_CLASS,
      overhead: SANDBOX_OVERHEAD,
      kubectlLeavesOut: "pod-level",
    },
    { cpuMillis: 2250, memoryBytes: 120 * MI },
  ],
];

const RESIZES: readonly CaseRow[] = [
  [
    "a finished resize is the new request",
    {
      containers: [app({ cpu: "2", memory: "1Gi" })],
      status: { containerStatuses: [resized("app", { cpu: "2", memory: "1Gi" })] },
    },
    { cpuMillis: 2000, memoryBytes: GI },
  ],
  [
    "a growing pod is already the larger request",
    { containers: [app({ cpu: "4" })], status: { containerStatuses: [resized("app", { cpu: "2" })] } },
    { cpuMillis: 4000 },
  ],
  [
    "an infeasible growth counts what the container has",
    {
      containers: [app({ cpu: "64" })],
      status: { conditions: resizePending("Infeasible"), containerStatuses: [resized("app", { cpu: "2" })] },
      kubectlLeavesOut: "resize",
    },
    { cpuMillis: 2000 },
  ],
  [
    "a shrinking pod keeps what is still set",
    {
      containers: [app({ cpu: "1", memory: "1Gi" })],
      status: {
        containerStatuses: [resized("app", { cpu: "1", memory: "1Gi" }, { cpu: "3", memory: "4Gi" })],
      },
      kubectlLeavesOut: "resize",
    },
    { cpuMillis: 3000, memoryBytes: 4 * GI },
  ],
  [
    "a shrink not yet admitted keeps what was admitted",
    {
      containers: [app({ cpu: "1" })],
      status: { containerStatuses: [resized("app", { cpu: "3" }, { cpu: "2" })] },
      kubectlLeavesOut: "resize",
    },
    { cpuMillis: 3000 },
  ],
  [
    "a shrinking sidecar keeps what is still set",
    {
      containers: [app({ cpu: "1" })],
      initContainers: [sidecar({ cpu: "100m" })],
      status: { initContainerStatuses: [resized("sidecar", { cpu: "100m" }, { cpu: "500m" })] },
      kubectlLeavesOut: "resize",
    },
    { cpuMillis: 1500 },
  ],
  [
    "one of two containers shrinking adds the other as it is",
    {
      containers: [app({ cpu: "1" }), app({ cpu: "2" }, "web")],
      status: {
        containerStatuses: [resized("app", { cpu: "1" }, { cpu: "4" }), resized("web", { cpu: "2" })],
      },
      kubectlLeavesOut: "resize",
    },
    { cpuMillis: 6000 },
  ],
];

const LIFE: readonly CaseRow[] = [
  ["a succeeded pod is nothing", { containers: [app({ cpu: "1" })], status: { phase: "Succeeded" } }, {}],
  ["a failed pod is nothing", { containers: [app({ cpu: "1" })], status: { phase: "Failed" } }, {}],
  [
    "a pod that waits to start is its request",
    { containers: [app({ cpu: "1" })], status: { phase: "Pending" } },
    { cpuMillis: 1000 },
  ],
  [
    "a pod with everything is all of it",
    {
      containers: [
        app({ cpu: "1", memory: "2Gi", "ephemeral-storage": "1Gi" }),
        app({ cpu: "2", memory: "4Gi", "nvidia.com/gpu": "2" }, "trainer"),
      ],
      initContainers: [
        sidecar({ cpu: "250m", memory: "256Mi" }),
        init({ cpu: "500m", memory: "8Gi", "ephemeral-storage": "20Gi" }),
      ],
      runtimeClassName: SANDBOX_CLASS,
      overhead: SANDBOX_OVERHEAD,
    },
    { cpuMillis: 3500, memoryBytes: 8 * GI + 376 * MI, storageBytes: 20 * GI, gpus: 2 },
  ],
];

/** Pods and their requests; also compared with what a real scheduler and kubectl make of them. */
export const POD_CASES: readonly PodCase[] = [
  ...CONTAINERS,
  ...INIT_CONTAINERS,
  ...SIDECARS,
  ...OVERHEAD,
  ...POD_LEVEL,
  ...RESIZES,
  ...LIFE,
].map(podCase);
