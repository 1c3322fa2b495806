import { clusterSums, nodeFacts as readNode, podFacts as readPod } from "@resource-broker/accounting";
import { type KubernetesNode, type KubernetesPod, resourceVector } from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { liqoAccounting } from "./node-accounting.ts";

const nodeFacts = (node: KubernetesNode) => readNode(node, undefined, liqoAccounting);
const podFacts = (pod: KubernetesPod) => readPod(pod, undefined, liqoAccounting);

/** Objects as Liqo 1.2 writes them, down to what the accounting does not look at. */

const GI = 1024 ** 3;
const RSV = "rsv-rome-k3u7dq2hvmx5b4ta";
/** Liqo's name of the user of that slice of rome-liqo. */
const USER = `${RSV}-8930a094bab8`;

const room = (cpu: string, memory: string) => ({ cpu, memory, "ephemeral-storage": "100Gi", pods: "110" });
const READY = [
  { type: "Ready", status: "True", reason: "KubeletReady" },
  { type: "MemoryPressure", status: "False", reason: "KubeletHasSufficientMemory" },
];

const PHYSICAL: KubernetesNode = {
  metadata: { name: "paris-1", labels: { "kubernetes.io/hostname": "paris-1", "kubernetes.io/os": "linux" } },
  status: { capacity: room("16", "64Gi"), allocatable: room("16", "64Gi"), conditions: READY },
};

/** What paris itself borrows from berlin. */
const VIRTUAL: KubernetesNode = {
  metadata: {
    name: "rsv-paris-m2c7x0q4tbn6a5re",
    labels: {
      "kubernetes.io/arch": "amd64",
      "kubernetes.io/hostname": "rsv-paris-m2c7x0q4tbn6a5re",
      "kubernetes.io/os": "linux",
      "kubernetes.io/role": "agent",
      "liqo.io/remote-cluster-id": "berlin-liqo",
      "liqo.io/type": "virtual-node",
      "node.kubernetes.io/exclude-from-external-load-balancers": "true",
      "storage.liqo.io/available": "false",
    },
  },
  spec: { taints: [{ key: "virtual-node.liqo.io/not-allowed", value: "true", effect: "NoExecute" }] },
  status: { capacity: room("8", "32Gi"), allocatable: room("8", "32Gi"), conditions: READY },
};

const container = (cpu: string, memory: string) => ({
  name: "web",
  resources: { requests: { cpu, memory } },
});

interface GuestSketch {
  readonly labels?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
  readonly nodeName?: string | undefined;
  readonly phase?: string;
}

/** The pod that the ShadowPod controller makes on the provider. */
function guest(name: string, sketch: GuestSketch = {}): KubernetesPod {
  const labels: Record<string, string> = {
    app: "web",
    "liqo.io/creator-user": USER,
    "liqo.io/managed-by": "shadowpod",
    "offloading.liqo.io/destination": "paris-liqo",
    "offloading.liqo.io/nodename": RSV,
    "offloading.liqo.io/origin": "rome-liqo",
    "pod-template-hash": "7c5ddbdf54",
    ...sketch.labels,
  };
  const { without = [], nodeName = "paris-1", phase = "Running" } = sketch;
  return {
    metadata: {
      name,
      namespace: "shop-rome-liqo",
      uid: name,
      labels: Object.fromEntries(Object.entries(labels).filter(([label]) => !without.includes(label))),
    },
    spec: {
      ...("nodeName" in sketch && sketch.nodeName === undefined ? {} : { nodeName }),
      containers: [container("1", "2Gi")],
    },
    status: { phase },
  };
}

/** A pod of paris that runs at berlin; Liqo labels it when it has been reflected. */
function offloaded(name: string, labels: Readonly<Record<string, string>>): KubernetesPod {
  return {
    metadata: { name, namespace: "shop", uid: name, labels: { app: "web", ...labels } },
    spec: { nodeName: VIRTUAL.metadata?.name ?? "", containers: [container("1", "2Gi")] },
    status: { phase: "Running" },
  };
}

function totals(pods: readonly KubernetesPod[], origin: string | undefined = "rome-liqo") {
  const sums = clusterSums();
  for (const node of [PHYSICAL, VIRTUAL]) sums.putNode(nodeFacts(node).facts);
  sums.putReservation({ id: RSV, origin });
  for (const pod of pods) sums.putPod(podFacts(pod).facts);
  const { allocatable, allocated, usage } = sums.totals();
  return {
    allocatable: allocatable.cpuMillis,
    allocated: allocated.cpuMillis,
    used: usage[0]?.used.cpuMillis,
  };
}

describe("with objects as Liqo writes them", () => {
  const rows: readonly (readonly [string, readonly KubernetesPod[], { allocated: number; used: number }])[] =
    [
      ["guests of a live reservation are its use", [guest("a"), guest("b")], { allocated: 0, used: 2000 }],
      [
        "a guest that waits for a node is its use",
        [guest("a", { nodeName: undefined, phase: "Pending" })],
        { allocated: 0, used: 1000 },
      ],
      ["a guest that has ended is nobody's", [guest("a", { phase: "Succeeded" })], { allocated: 0, used: 0 }],
      [
        "a guest without a live reservation is allocated",
        [
          guest("a", {
            labels: {
              "offloading.liqo.io/nodename": "mypool",
              "liqo.io/creator-user": "mypool-8930a094bab8",
            },
          }),
        ],
        { allocated: 1000, used: 0 },
      ],
      [
        "a guest of another consumer is allocated, though its slice has the same name",
        [
          guest("a", {
            labels: {
              "offloading.liqo.io/origin": "mallory-liqo",
              "liqo.io/creator-user": `${RSV}-6919841d73c2`,
            },
          }),
        ],
        { allocated: 1000, used: 0 },
      ],
      [
        "a guest that names another slice than its user's is allocated",
        [guest("a", { labels: { "liqo.io/creator-user": "mypool-8930a094bab8" } })],
        { allocated: 1000, used: 0 },
      ],
      [
        "a guest whose user was not stamped is allocated",
        [guest("a", { without: ["liqo.io/creator-user"] })],
        { allocated: 1000, used: 0 },
      ],
      [
        "a pod that merely has the consumer's labels is allocated",
        [guest("a", { without: ["liqo.io/managed-by"] })],
        { allocated: 1000, used: 0 },
      ],
      [
        "a pod that runs elsewhere counts nowhere",
        [offloaded("a", { "liqo.io/shadowPod": "true" })],
        { allocated: 0, used: 0 },
      ],
      ["nor does one whose label lags", [offloaded("a", {})], { allocated: 0, used: 0 }],
      [
        "nor a guest that was sent on to a virtual node",
        [guest("a", { nodeName: VIRTUAL.metadata?.name ?? "" })],
        { allocated: 0, used: 0 },
      ],
    ];
  it.each(rows)("%s", (_, pods, expected) => {
    expect(totals(pods)).toEqual({ allocatable: 16_000, ...expected });
  });

  it("a virtual node is never lent, tolerated or not", () => {
    const sums = clusterSums({ toleratedTaints: [{ key: "virtual-node.liqo.io/not-allowed" }] });
    sums.putNode(nodeFacts(VIRTUAL).facts);
    expect(sums.totals().allocatable).toEqual(resourceVector({}));
  });

  it("guests become the cluster's own load when their reservation ends, and vanish with their pods", () => {
    const sums = clusterSums();
    sums.putNode(nodeFacts(PHYSICAL).facts);
    sums.putReservation({ id: RSV, origin: "rome-liqo" });
    const { facts } = podFacts(guest("a"));
    sums.putPod(facts);
    sums.removeReservation(RSV);
    expect(sums.totals()).toMatchObject({
      allocated: resourceVector({ cpuMillis: 1000, memoryBytes: 2 * GI }),
      usage: [],
    });
    sums.removePod(facts.key);
    expect(sums.totals().allocated).toEqual(resourceVector({}));
  });

  it("a guest whose labels come a moment late counts in the right place as soon as they are there", () => {
    const sums = clusterSums();
    sums.putNode(nodeFacts(PHYSICAL).facts);
    sums.putReservation({ id: RSV, origin: "rome-liqo" });
    const allocated = () => sums.totals().allocated.cpuMillis;
    const used = () => sums.totals().usage[0]?.used.cpuMillis;
    sums.putPod(podFacts(guest("a", { without: ["liqo.io/creator-user", "liqo.io/managed-by"] })).facts);
    expect([allocated(), used()]).toEqual([1000, 0]);
    sums.putPod(podFacts(guest("a")).facts);
    expect([allocated(), used()]).toEqual([0, 1000]);
  });
});
