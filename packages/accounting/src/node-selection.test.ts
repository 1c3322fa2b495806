import { describe, expect, it } from "vitest";
import type { KubernetesNodeSelectorTerm, KubernetesPod, KubernetesPodSpec } from "@resource-broker/base";
import { pinnedNode, selectsVirtualNode } from "./pod.ts";

const affinity = (...nodeSelectorTerms: KubernetesNodeSelectorTerm[]): KubernetesPodSpec => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  },
});
const expression = (key: string, operator: string, ...values: string[]): KubernetesNodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
});
const named = (...values: string[]): KubernetesNodeSelectorTerm => ({
  matchFields: [{ key: "metadata.name", operator: "In", values }],
});
const VIRTUAL = expression("liqo.io/type", "In", "virtual-node");
const LOCAL = expression("liqo.io/type", "NotIn", "virtual-node");
const TOLERATION = { tolerations: [{ key: "virtual-node.liqo.io/not-allowed", operator: "Exists" }] };

describe("a pod selects a virtual node", () => {
  const ROWS: readonly (readonly [string, KubernetesPodSpec, boolean])[] = [
    ["never without selectors", {}, false],
    ["by node selector", { nodeSelector: { "liqo.io/type": "virtual-node" } }, true],
    [
      "by node selector on the remote cluster",
      { nodeSelector: { "liqo.io/remote-cluster-id": "paris" } },
      true,
    ],
    ["not by another node selector", { nodeSelector: { disk: "ssd", "liqo.io/type": "other" } }, false],
    ["by required affinity", affinity(VIRTUAL), true],
    [
      "by the affinity Liqo adds to a remote-only pod",
      affinity({
        matchExpressions: [
          { key: "liqo.io/remote-cluster-id", operator: "In", values: ["paris"] },
          { key: "liqo.io/type", operator: "In", values: ["virtual-node"] },
        ],
      }),
      true,
    ],
    ["by affinity on the existence of the label", affinity(expression("liqo.io/type", "Exists")), true],
    [
      "by affinity on the remote cluster",
      affinity(expression("liqo.io/remote-cluster-id", "In", "paris", "rome")),
      true,
    ],
    ["not when one alternative is local", affinity(VIRTUAL, LOCAL), false],
    [
      "not when one alternative says nothing of it",
      affinity(VIRTUAL, expression("disk", "In", "ssd")),
      false,
    ],
    ["even beside an empty alternative, which matches nothing", affinity(VIRTUAL, {}), true],
    ["not by affinity to local nodes", affinity(LOCAL), false],
    [
      "not by affinity to other values too",
      affinity(expression("liqo.io/type", "In", "virtual-node", "edge")),
      false,
    ],
    ["not by a toleration alone", TOLERATION as KubernetesPodSpec, false],
    ["not by an empty affinity", affinity(), false],
    ["not by node name", affinity(named("node-1")), false],
  ];
  it.each(ROWS)("%s", (_, spec, expected) => {
    const pod: KubernetesPod = { spec };
    expect(selectsVirtualNode(pod)).toBe(expected);
  });
});

describe("a pod is tied to", () => {
  const ROWS: readonly (readonly [string, KubernetesPodSpec, string | undefined])[] = [
    ["no node by default", {}, undefined],
    ["the node its affinity names, as a DaemonSet's pods do", affinity(named("node-1")), "node-1"],
    ["the node every alternative names", affinity(named("node-1"), named("node-1")), "node-1"],
    ["no node when alternatives differ", affinity(named("node-1"), named("node-2")), undefined],
    ["no node when an alternative names none", affinity(named("node-1"), VIRTUAL), undefined],
    ["no node when several are named", affinity(named("node-1", "node-2")), undefined],
    ["the host its node selector names", { nodeSelector: { "kubernetes.io/hostname": "node-3" } }, "node-3"],
  ];
  it.each(ROWS)("%s", (_, spec, expected) => {
    expect(pinnedNode({ spec })).toBe(expected);
  });
});
