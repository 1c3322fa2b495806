import { NODE_LABELS } from "@resource-broker/accounting";
import { liqoAccounting } from "@resource-broker/agent/liqo";
import type { Pod } from "@resource-broker/kube";
import type { Node } from "@resource-broker/kube/testing";
import type { Setup } from "./kube-promise.ts";

/** What a server wants to know of a pod beside what we read. */
export interface WholePod extends Pod {
  readonly metadata: NonNullable<Pod["metadata"]> & { readonly finalizers?: readonly string[] };
  readonly spec: NonNullable<Pod["spec"]>;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly resources: { readonly requests: Readonly<Record<string, string>> };
}

/** A pod of the scene; `spec` is added to one container that asks for little. */
export function pod({ namespace }: Pick<Setup, "namespace">, name: string, spec: object = {}): WholePod {
  return {
    metadata: { name, namespace },
    spec: { containers: [container("main", { cpu: "100m", memory: "64Mi" })], ...spec },
  };
}

export function container(
  name: string,
  requests: Readonly<Record<string, string>>,
  more: object = {},
): Container {
  return { name, image: "example/app:1", resources: { requests }, ...more };
}

const MAIN = "main";
const SIDECAR = container("mesh", { cpu: "50m" }, { restartPolicy: "Always" });
const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const GPU = "nvidia.com/gpu";

const gpuContainer = {
  name: MAIN,
  image: "example/app:1",
  resources: { requests: { cpu: "1", [GPU]: "2" }, limits: { [GPU]: "2" } },
};

const affinity = {
  nodeAffinity: {
    [REQUIRED]: {
      nodeSelectorTerms: [
        {
          matchExpressions: [
            { key: "zone", operator: "In", values: ["a", "b"] },
            { key: "spot", operator: "DoesNotExist" },
          ],
        },
        { matchFields: [{ key: "metadata.name", operator: "In", values: ["node-1"] }] },
      ],
    },
  },
};

/** Specs that hold, all together, every field of a pod's spec that is read. Overhead needs a RuntimeClass. */
export const POD_SPECS: Readonly<Record<string, object>> = {
  small: {},
  "no-requests": { containers: [{ name: MAIN, image: "example/app:1" }] },
  "odd-quantities": {
    containers: [
      container("a", { cpu: "0.1", memory: "1.5Gi", "ephemeral-storage": "1e3" }),
      container("b", { cpu: "1500m", memory: "134217728" }),
      container("c", { cpu: "0", memory: "100M" }),
    ],
  },
  placed: { nodeName: "node-1" },
  gpu: { containers: [gpuContainer] },
  "init-containers": { initContainers: [container("first", { cpu: "2" }), SIDECAR] },
  "pod-level": { resources: { requests: { cpu: "3", memory: "1Gi" }, limits: { cpu: "4", memory: "2Gi" } } },
  gated: { schedulingGates: [{ name: "example.com/wait" }, { name: "example.com/later" }] },
  selective: { nodeSelector: { "kubernetes.io/arch": "arm64", empty: "" } },
  picky: { affinity },
  patient: { terminationGracePeriodSeconds: 0, nodeName: "node-1" },
};

/** A value for each of the labels that are read. */
export function labelsFor(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, "known"]));
}

/** What a kubelet would report of a pod with containers `main` and an init container `first`. */
export const POD_STATUS = {
  phase: "Running",
  conditions: [
    { type: "PodScheduled", status: "True" },
    { type: "PodResizePending", status: "True", reason: "Deferred" },
    {
      type: "Ready",
      status: "False",
      reason: "ContainersNotReady",
      message: "containers with unready status",
    },
  ],
  containerStatuses: [
    {
      name: MAIN,
      image: "example/app:1",
      imageID: "",
      ready: false,
      restartCount: 3,
      allocatedResources: { cpu: "200m", memory: "128Mi" },
      resources: { requests: { cpu: "250m", memory: "128Mi" } },
    },
  ],
  initContainerStatuses: [
    {
      name: "first",
      image: "example/app:1",
      imageID: "",
      ready: true,
      restartCount: 0,
      allocatedResources: { cpu: "2" },
      resources: { requests: { cpu: "2500m" } },
    },
  ],
};

/** Nodes that hold, all together, every field of a node that is read. */
export function nodes(unique: (name: string) => string): readonly Node[] {
  const amounts = { cpu: "8", memory: "32Gi", pods: "110", [GPU]: "2", "hugepages-2Mi": "0" };
  return [
    { metadata: { name: unique("bare") } },
    {
      metadata: {
        name: unique("full"),
        labels: { zone: "a", ...labelsFor([...liqoAccounting.labels.node, ...NODE_LABELS]) },
      },
      spec: {
        unschedulable: true,
        taints: [
          { key: "dedicated", value: "lab", effect: "NoSchedule" },
          { key: "broken", effect: "NoExecute" },
        ],
      },
      status: {
        capacity: amounts,
        allocatable: { ...amounts, cpu: "7910m", memory: "31Gi" },
        conditions: [
          { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory" },
          { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" },
        ],
      },
    },
  ];
}
