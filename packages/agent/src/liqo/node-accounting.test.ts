import { clusterSums, nodeFacts as readNode, podFacts as readPod } from "@resource-broker/accounting";
import {
  type KubernetesNode,
  type KubernetesNodeSelectorTerm,
  type KubernetesPod,
  type KubernetesPodSpec,
  resourceVector,
} from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { liqoAccounting } from "./node-accounting.ts";

const affinity = (...nodeSelectorTerms: KubernetesNodeSelectorTerm[]): KubernetesPodSpec => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
});
const expression = (key: string, operator: string, ...values: string[]): KubernetesNodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
});
const NAMED = { matchFields: [{ key: "metadata.name", operator: "In", values: ["node-1"] }] };
const TO_VIRTUAL = expression("liqo.io/type", "In", "virtual-node");
const TO_LOCAL = expression("liqo.io/type", "NotIn", "virtual-node");
const TOLERATION = { tolerations: [{ key: "virtual-node.liqo.io/not-allowed", operator: "Exists" }] };

const REMOTE = "liqo.io/remote-cluster-id";

describe("a pod selects a virtual node", () => {
  it.each<[string, KubernetesPodSpec, boolean]>([
    ["never without selectors", {}, false],
    ["by node selector", { nodeSelector: { "liqo.io/type": "virtual-node" } }, true],
    ["by node selector on the remote cluster", { nodeSelector: { [REMOTE]: "paris" } }, true],
    ["not by another node selector", { nodeSelector: { disk: "ssd", "liqo.io/type": "other" } }, false],
    ["by required affinity", affinity(TO_VIRTUAL), true],
    ["by affinity on the existence of the label", affinity(expression("liqo.io/type", "Exists")), true],
    ["by affinity on the remote cluster", affinity(expression(REMOTE, "In", "paris", "rome")), true],
    ["not when one alternative is local", affinity(TO_VIRTUAL, TO_LOCAL), false],
    ["not when one says nothing of it", affinity(TO_VIRTUAL, expression("disk", "In", "ssd")), false],
    ["even beside an empty alternative, which matches nothing", affinity(TO_VIRTUAL, {}), true],
    ["not by affinity to local nodes", affinity(TO_LOCAL), false],
    ["not by other values too", affinity(expression("liqo.io/type", "In", "virtual-node", "edge")), false],
    ["not by a toleration alone", TOLERATION as KubernetesPodSpec, false],
    ["not by an empty affinity", affinity(), false],
    ["not by node name", affinity(NAMED), false],
  ])("%s", (_, spec, expected) => {
    expect(liqoAccounting.selectsVirtualNode({ spec })).toBe(expected);
  });
});

const nodeFacts = (node: KubernetesNode) => readNode(node, undefined, liqoAccounting);
const podFacts = (pod: KubernetesPod) => readPod(pod, undefined, liqoAccounting);

const RSV = "rsv-rome-k3u7dq2hvmx5b4ta";
/** Liqo's name of the user of that slice of rome-liqo. */
const USER = `${RSV}-8930a094bab8`;

function nodeStatus(cpu: string, memory: string): NonNullable<KubernetesNode["status"]> {
  const room = { cpu, memory, "ephemeral-storage": "100Gi", pods: "110" };
  return { capacity: room, allocatable: room, conditions: [{ type: "Ready", status: "True" }] };
}

const PHYSICAL: KubernetesNode = {
  metadata: { name: "paris-1", labels: { "kubernetes.io/hostname": "paris-1" } },
  status: nodeStatus("16", "64Gi"),
};

/** What paris itself borrows from berlin. */
const VIRTUAL: KubernetesNode = {
  metadata: {
    name: "rsv-paris-m2c7x0q4tbn6a5re",
    labels: { "liqo.io/remote-cluster-id": "berlin-liqo", "liqo.io/type": "virtual-node" },
  },
  spec: { taints: [{ key: "virtual-node.liqo.io/not-allowed", value: "true", effect: "NoExecute" }] },
  status: nodeStatus("8", "32Gi"),
};

const CONTAINERS = [{ name: "web", resources: { requests: { cpu: "1", memory: "2Gi" } } }];

interface GuestSketch {
  readonly labels?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
  readonly nodeName?: string | undefined;
  readonly phase?: string;
}

/** The pod that the ShadowPod controller makes on the provider. */
function guest(name: string, sketch: GuestSketch = {}): KubernetesPod {
  const labels: Record<string, string> = {
    "liqo.io/creator-user": USER,
    "liqo.io/managed-by": "shadowpod",
    "offloading.liqo.io/nodename": RSV,
    "offloading.liqo.io/origin": "rome-liqo",
    ...sketch.labels,
  };
  const { without = [], nodeName = "paris-1", phase = "Running" } = sketch;
  const kept = Object.entries(labels).filter(([label]) => !without.includes(label));
  return {
    metadata: { name, namespace: "shop-rome-liqo", uid: name, labels: Object.fromEntries(kept) },
    spec: {
      ...("nodeName" in sketch && sketch.nodeName === undefined ? {} : { nodeName }),
      containers: CONTAINERS,
    },
    status: { phase },
  };
}

/** A pod of paris that runs at berlin; Liqo labels it when it has been reflected. */
function offloaded(name: string, labels: Readonly<Record<string, string>>): KubernetesPod {
  return {
    metadata: { name, namespace: "shop", uid: name, labels },
    spec: { nodeName: VIRTUAL.metadata?.name ?? "", containers: CONTAINERS },
    status: { phase: "Running" },
  };
}

function totals(pods: readonly KubernetesPod[]) {
  const sums = clusterSums();
  for (const node of [PHYSICAL, VIRTUAL]) sums.putNode(nodeFacts(node).facts);
  sums.putReservation({ id: RSV, origin: "rome-liqo" });
  for (const pod of pods) sums.putPod(podFacts(pod).facts);
  const { allocatable, allocated, usage } = sums.totals();
  return {
    allocatable: allocatable.cpuMillis,
    allocated: allocated.cpuMillis,
    used: usage[0]?.used.cpuMillis,
  };
}

describe("with objects as Liqo writes them", () => {
  const [OWN, NOBODYS] = [
    { allocated: 1000, used: 0 },
    { allocated: 0, used: 0 },
  ];
  const usedBy = (creator: string, more: Readonly<Record<string, string>> = {}) =>
    guest("a", { labels: { "liqo.io/creator-user": creator, ...more } });
  const OF_MALLORY = { "offloading.liqo.io/origin": "mallory-liqo" };
  const POOL = { "offloading.liqo.io/nodename": "mypool" };
  it.each<[string, readonly KubernetesPod[], { allocated: number; used: number }]>([
    ["guests of a live reservation are its use", [guest("a"), guest("b")], { allocated: 0, used: 2000 }],
    [
      "a guest that waits for a node is its use",
      [guest("a", { nodeName: undefined, phase: "Pending" })],
      { allocated: 0, used: 1000 },
    ],
    ["a guest that has ended is nobody's", [guest("a", { phase: "Succeeded" })], NOBODYS],
    ["a guest without a live reservation is allocated", [usedBy("mypool-8930a094bab8", POOL)], OWN],
    ["a guest of another with a slice of that name is", [usedBy(`${RSV}-6919841d73c2`, OF_MALLORY)], OWN],
    ["a guest that names another slice than its user's is", [usedBy("mypool-8930a094bab8")], OWN],
    ["a guest of a slice whose name only begins alike is", [usedBy(`${RSV}-2-8930a094bab8`)], OWN],
    ["a guest whose user has no digest is", [usedBy(`${RSV}-`)], OWN],
    ["a guest whose user was not stamped is", [guest("a", { without: ["liqo.io/creator-user"] })], OWN],
    ["a guest without an origin is", [guest("a", { without: ["offloading.liqo.io/origin"] })], OWN],
    ["a guest without a slice is", [guest("a", { without: ["offloading.liqo.io/nodename"] })], OWN],
    [
      "a pod that merely has the consumer's labels is",
      [guest("a", { without: ["liqo.io/managed-by"] })],
      OWN,
    ],
    ["a pod that runs elsewhere counts nowhere", [offloaded("a", { "liqo.io/shadowPod": "true" })], NOBODYS],
    ["nor does one whose label lags", [offloaded("a", {})], NOBODYS],
    ["nor a guest that was sent on", [guest("a", { nodeName: VIRTUAL.metadata?.name ?? "" })], NOBODYS],
  ])("%s", (_, pods, expected) => {
    expect(totals(pods)).toEqual({ allocatable: 16_000, ...expected });
  });

  it("a virtual node is never lent, tolerated or not", () => {
    const sums = clusterSums({ toleratedTaints: [{ key: "virtual-node.liqo.io/not-allowed" }] });
    sums.putNode(nodeFacts(VIRTUAL).facts);
    expect(sums.totals().allocatable).toEqual(resourceVector({}));
  });
});
