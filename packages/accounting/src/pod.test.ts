import {
  type KubernetesNodeSelectorTerm,
  type KubernetesPodSpec,
  resourceVector,
} from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { NO_DATA_PLANE } from "./node-accounting.ts";
import { podFacts } from "./pod.ts";

const affinity = (...nodeSelectorTerms: KubernetesNodeSelectorTerm[]): KubernetesPodSpec => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});
const ON_SSD = { matchExpressions: [{ key: "disk", operator: "In", values: ["ssd"] }] };
const named = (...values: string[]): KubernetesNodeSelectorTerm => ({
  matchFields: [{ key: "metadata.name", operator: "In", values }],
});

describe("pod facts", () => {
  it("keep what the accounting needs of a pod", () => {
    const pod = {
      metadata: { namespace: "shop", name: "web-1" },
      spec: { nodeName: "node-1", containers: [{ name: "web", resources: { requests: { cpu: "1" } } }] },
      status: { phase: "Running" },
    };
    const guest = { reservationId: "rsv-rome-abc", origin: "rome" };
    const accounting = { ...NO_DATA_PLANE, selectsVirtualNode: () => true, guestOf: () => guest };
    expect(podFacts(pod, undefined, accounting)).toEqual({
      problems: [],
      facts: {
        key: "shop/web-1",
        nodeName: "node-1",
        terminal: false,
        request: resourceVector({ cpuMillis: 1000 }),
        unreadable: false,
        guest,
        gated: false,
        selectsVirtualNode: true,
        pinnedNode: undefined,
      },
    });
    expect(podFacts({ spec: { nodeName: "" } }).facts.nodeName).toBeUndefined();
  });

  it("tell a request that cannot be counted", () => {
    const containers = [{ name: "web", resources: { requests: { cpu: "1e18", memory: "1Gi" } } }];
    const { facts, problems } = podFacts({ spec: { nodeName: "node-1", containers } });
    expect(facts).toMatchObject({ unreadable: true, request: { memoryBytes: 1024 ** 3 } });
    expect(problems).toEqual([expect.stringContaining('"1e18" is too large')]);
  });

  it.each<[string, KubernetesPodSpec, string | undefined]>([
    ["no node by default", {}, undefined],
    ["the node its affinity names, as a DaemonSet's pods do", affinity(named("node-1")), "node-1"],
    ["the node every alternative names", affinity(named("node-1"), named("node-1")), "node-1"],
    ["no node when alternatives differ", affinity(named("node-1"), named("node-2")), undefined],
    ["no node when an alternative names none", affinity(named("node-1"), ON_SSD), undefined],
    ["no node when several are named", affinity(named("node-1", "node-2")), undefined],
    ["the host its node selector names", { nodeSelector: { "kubernetes.io/hostname": "node-3" } }, "node-3"],
  ])("say that the pod is tied to %s", (_, spec, expected) => {
    expect(podFacts({ spec }).facts.pinnedNode).toBe(expected);
  });
});
