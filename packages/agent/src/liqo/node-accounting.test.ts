import type { KubernetesNodeSelectorTerm, KubernetesPod, KubernetesPodSpec } from "@resource-broker/base";
import { describe, expect, it, test } from "vitest";
import { liqoAccounting } from "./node-accounting.ts";

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
    expect(liqoAccounting.selectsVirtualNode(pod)).toBe(expected);
  });
});

const GUEST_LABELS = {
  "liqo.io/managed-by": "shadowpod",
  "offloading.liqo.io/origin": "rome-liqo",
  "offloading.liqo.io/nodename": "rsv-rome-abc",
  "liqo.io/creator-user": "rsv-rome-abc-0a1b2c3d4e5f",
};
const guestOf = (labels: Record<string, string>) => liqoAccounting.guestOf({ metadata: { labels } });

describe("a guest pod", () => {
  it("is known by its four labels", () => {
    expect(guestOf(GUEST_LABELS)).toEqual({
      reservationId: "rsv-rome-abc",
      origin: "rome-liqo",
    });
  });

  it.each([
    ["managed by something else", { "liqo.io/managed-by": "shadowendpointslice" }],
    ["without a slice", { "offloading.liqo.io/nodename": "" }],
    ["without an origin", { "offloading.liqo.io/origin": "" }],
    ["without a creator", { "liqo.io/creator-user": "" }],
    ["created for another slice", { "liqo.io/creator-user": "rsv-oslo-xyz-0a1b2c3d4e5f" }],
    [
      "created for a slice whose name only begins alike",
      { "liqo.io/creator-user": "rsv-rome-abc-2-0a1b2c3d4e5f" },
    ],
    ["whose creator has no digest", { "liqo.io/creator-user": "rsv-rome-abc-" }],
  ])("%s is not trusted and counts as the cluster's own", (_, labels) => {
    expect(guestOf({ ...GUEST_LABELS, ...labels })).toBeUndefined();
  });
});

test("a virtual node is recognized by its type label only", () => {
  const isVirtual = (type: string) =>
    liqoAccounting.isVirtualNode({ metadata: { labels: { "liqo.io/type": type } } });
  expect([isVirtual("virtual-node"), isVirtual("other")]).toEqual([true, false]);
});
