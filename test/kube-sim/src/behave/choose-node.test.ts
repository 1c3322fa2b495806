import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { allocatableOf, requestsOf } from "./amounts.ts";
import { chooseNode } from "./choose-node.ts";
import type { NodeState } from "./placement.ts";

function node(
  name: string,
  more: {
    readonly labels?: JsonObject;
    readonly spec?: JsonObject;
    readonly ready?: string;
    readonly cpu?: string;
  } = {},
): NodeState {
  const object: JsonObject = {
    metadata: { name, labels: more.labels ?? {} },
    spec: more.spec ?? {},
    status: {
      allocatable: { cpu: more.cpu ?? "4", memory: "8Gi", "example.com/gpu": "1" },
      conditions: [{ type: "Ready", status: more.ready ?? "True" }],
    },
  };
  return { node: object, allocatable: allocatableOf(object), used: new Map() };
}

const pod = (spec: JsonObject, requests: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ name: "c", resources: { requests } }], ...spec },
});
const affinity = (...expressions: readonly JsonObject[]): JsonObject => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: expressions }],
      },
    },
  },
});
const taint = { key: "lab", value: "x", effect: "NoSchedule" };

interface Row {
  readonly name: string;
  readonly pod: JsonObject;
  readonly nodes: readonly NodeState[];
  readonly chosen?: string;
  readonly message?: string;
}

const ROWS: readonly Row[] = [
  {
    name: "the emptier of two",
    pod: pod({}),
    nodes: [{ ...node("a"), used: new Map([["cpu", 1000]]) }, node("b")],
    chosen: "b",
  },
  {
    name: "the first by name of two that are alike",
    pod: pod({}),
    nodes: [node("b"), node("a")],
    chosen: "a",
  },
  {
    name: "none where there is none",
    pod: pod({}),
    nodes: [],
    message: "no nodes available to schedule pods",
  },
  {
    name: "none with enough CPU",
    pod: pod({}, { cpu: "4001m" }),
    nodes: [node("a")],
    message: "0/1 nodes are available: 1 Insufficient cpu.",
  },
  { name: "one that just has enough", pod: pod({}, { cpu: "4" }), nodes: [node("a")], chosen: "a" },
  {
    name: "none with a second device",
    pod: pod({}, { "example.com/gpu": "2" }),
    nodes: [node("a")],
    message: "0/1 nodes are available: 1 Insufficient example.com/gpu.",
  },
  {
    name: "not the one that is not ready",
    pod: pod({}),
    nodes: [node("a", { ready: "False" }), node("b")],
    chosen: "b",
  },
  {
    name: "not the one that is closed",
    pod: pod({}),
    nodes: [node("a", { spec: { unschedulable: true } })],
    message: "0/1 nodes are available: 1 node(s) were unschedulable.",
  },
  {
    name: "not the one with a taint",
    pod: pod({}),
    nodes: [node("a", { spec: { taints: [taint] } })],
    message: "0/1 nodes are available: 1 node(s) had untolerated taint {lab: x}.",
  },
  {
    name: "the one whose taint is put up with",
    pod: pod({ tolerations: [{ key: "lab", operator: "Equal", value: "x" }] }),
    nodes: [node("a", { spec: { taints: [taint] } })],
    chosen: "a",
  },
  {
    name: "not the one whose taint has another value",
    pod: pod({ tolerations: [{ key: "lab", value: "y" }] }),
    nodes: [node("a", { spec: { taints: [taint] } })],
    message: "0/1 nodes are available: 1 node(s) had untolerated taint {lab: x}.",
  },
  {
    name: "the one with a mere preference against pods",
    pod: pod({}),
    nodes: [node("a", { spec: { taints: [{ ...taint, effect: "PreferNoSchedule" }] } })],
    chosen: "a",
  },
  {
    name: "the one with the label",
    pod: pod({ nodeSelector: { disk: "ssd" } }),
    nodes: [node("a"), node("b", { labels: { disk: "ssd" } })],
    chosen: "b",
  },
  {
    name: "none without the label",
    pod: pod({ nodeSelector: { disk: "ssd" } }),
    nodes: [node("a")],
    message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  },
  {
    name: "by In",
    pod: pod(affinity({ key: "zone", operator: "In", values: ["1", "2"] })),
    nodes: [node("a", { labels: { zone: "3" } }), node("b", { labels: { zone: "2" } })],
    chosen: "b",
  },
  {
    name: "by NotIn",
    pod: pod(affinity({ key: "zone", operator: "NotIn", values: ["3"] })),
    nodes: [node("a", { labels: { zone: "3" } }), node("b")],
    chosen: "b",
  },
  {
    name: "by Exists",
    pod: pod(affinity({ key: "zone", operator: "Exists" })),
    nodes: [node("a"), node("b", { labels: { zone: "2" } })],
    chosen: "b",
  },
  {
    name: "by DoesNotExist",
    pod: pod(affinity({ key: "zone", operator: "DoesNotExist" })),
    nodes: [node("a", { labels: { zone: "2" } }), node("b")],
    chosen: "b",
  },
  {
    name: "by Gt",
    pod: pod(affinity({ key: "size", operator: "Gt", values: ["5"] })),
    nodes: [node("a", { labels: { size: "5" } }), node("b", { labels: { size: "6" } })],
    chosen: "b",
  },
  {
    name: "by a term that demands nothing, which selects nothing",
    pod: pod(affinity()),
    nodes: [node("a")],
    message: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  },
  {
    name: "none for a demand that is not understood",
    pod: pod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } }),
    nodes: [node("a")],
    message:
      "the simulated scheduler does not know spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution",
  },
  {
    name: "several reasons, counted",
    pod: pod({}, { cpu: "3" }),
    nodes: [node("a", { cpu: "1" }), node("b", { cpu: "2" }), node("c", { ready: "Unknown" })],
    message: "0/3 nodes are available: 1 node(s) were not ready, 2 Insufficient cpu.",
  },
];

describe("the node that is chosen", () => {
  test.each(ROWS)("$name", ({ pod: wanted, nodes, chosen, message }) => {
    const choice = chooseNode(wanted, nodes);
    if (chosen !== undefined) expect(choice).toEqual({ kind: "node", name: chosen });
    else expect(choice).toEqual({ kind: "none", message });
  });
});

test("init containers count only where they need more, and sidecars always", () => {
  const container = (cpu: string, more: JsonObject = {}): JsonObject => ({
    resources: { requests: { cpu } },
    ...more,
  });
  const requests = requestsOf({
    spec: {
      containers: [container("1"), container("500m")],
      initContainers: [container("250m", { restartPolicy: "Always" }), container("2")],
      overhead: { cpu: "100m" },
    },
  });
  expect(requests.get("cpu")).toBe(2350);
});
