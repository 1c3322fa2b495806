import type { KubernetesNodeSelectorTerm, KubernetesPodSpec } from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { pinnedNode } from "./pod.ts";

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

describe("a pod is tied to", () => {
  const ROWS: readonly (readonly [string, KubernetesPodSpec, string | undefined])[] = [
    ["no node by default", {}, undefined],
    ["the node its affinity names, as a DaemonSet's pods do", affinity(named("node-1")), "node-1"],
    ["the node every alternative names", affinity(named("node-1"), named("node-1")), "node-1"],
    ["no node when alternatives differ", affinity(named("node-1"), named("node-2")), undefined],
    [
      "no node when an alternative names none",
      affinity(named("node-1"), expression("disk", "In", "ssd")),
      undefined,
    ],
    ["no node when several are named", affinity(named("node-1", "node-2")), undefined],
    ["the host its node selector names", { nodeSelector: { "kubernetes.io/hostname": "node-3" } }, "node-3"],
  ];
  it.each(ROWS)("%s", (_, spec, expected) => {
    expect(pinnedNode({ spec })).toBe(expected);
  });
});
