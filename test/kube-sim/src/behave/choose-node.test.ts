import { expect, test } from "vitest";
import type { JsonObject } from "../json.ts";
import { allocatableOf, chooseNode, type NodeState, requestsOf } from "./choose-node.ts";

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

const closed = (reason: string): string => `0/1 nodes are available: 1 ${reason}.`;
const unselected = closed("node(s) didn't match Pod's node affinity/selector");
const tainted = [node("a", { spec: { taints: [taint] } })];
const zoned = (...zones: readonly string[]): readonly NodeState[] =>
  zones.map((zone, index) => node("ab"[index] ?? "", zone === "" ? {} : { labels: { zone } }));
const antiAffinity = "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution";

/** The node, or, where it holds a space, the message. */
type Row = readonly [name: string, pod: JsonObject, nodes: readonly NodeState[], choice: string];

const ROWS: readonly Row[] = [
  ["the emptier of two", pod({}), [{ ...node("a"), used: new Map([["cpu", 1000]]) }, node("b")], "b"],
  ["the first by name of two that are alike", pod({}), [node("b"), node("a")], "a"],
  ["none where there is none", pod({}), [], "no nodes available to schedule pods"],
  ["none with enough CPU", pod({}, { cpu: "4001m" }), [node("a")], closed("Insufficient cpu")],
  ["one that just has enough", pod({}, { cpu: "4" }), [node("a")], "a"],
  [
    "none with a second device",
    pod({}, { "example.com/gpu": "2" }),
    [node("a")],
    closed("Insufficient example.com/gpu"),
  ],
  ["not the one that is not ready", pod({}), [node("a", { ready: "False" }), node("b")], "b"],
  [
    "not the one that is closed",
    pod({}),
    [node("a", { spec: { unschedulable: true } })],
    closed("node(s) were unschedulable"),
  ],
  ["not the one with a taint", pod({}), tainted, closed("node(s) had untolerated taint {lab: x}")],
  [
    "the one whose taint is put up with",
    pod({ tolerations: [{ key: "lab", operator: "Equal", value: "x" }] }),
    tainted,
    "a",
  ],
  [
    "not the one whose taint has another value",
    pod({ tolerations: [{ key: "lab", value: "y" }] }),
    tainted,
    closed("node(s) had untolerated taint {lab: x}"),
  ],
  [
    "the one with a mere preference against pods",
    pod({}),
    [node("a", { spec: { taints: [{ ...taint, effect: "PreferNoSchedule" }] } })],
    "a",
  ],
  ["the one with the label", pod({ nodeSelector: { zone: "ssd" } }), zoned("", "ssd"), "b"],
  ["none without the label", pod({ nodeSelector: { zone: "ssd" } }), zoned(""), unselected],
  ["by In", pod(affinity({ key: "zone", operator: "In", values: ["1", "2"] })), zoned("3", "2"), "b"],
  ["by NotIn", pod(affinity({ key: "zone", operator: "NotIn", values: ["3"] })), zoned("3", ""), "b"],
  ["by Exists", pod(affinity({ key: "zone", operator: "Exists" })), zoned("", "2"), "b"],
  ["by DoesNotExist", pod(affinity({ key: "zone", operator: "DoesNotExist" })), zoned("2", ""), "b"],
  ["by Gt", pod(affinity({ key: "zone", operator: "Gt", values: ["5"] })), zoned("5", "6"), "b"],
  ["by Lt", pod(affinity({ key: "zone", operator: "Lt", values: ["5"] })), zoned("5", "4"), "b"],
  ["by a sign that is none", pod(affinity({ key: "zone", operator: "Like" })), zoned("5"), unselected],
  ["by a term that demands nothing, which selects nothing", pod(affinity()), [node("a")], unselected],
  [
    "none for a demand that is not understood",
    pod({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } }),
    [node("a")],
    `the simulated scheduler does not know spec.affinity.${antiAffinity}`,
  ],
  [
    "several reasons, counted",
    pod({}, { cpu: "3" }),
    [node("a", { cpu: "1" }), node("b", { cpu: "2" }), node("c", { ready: "Unknown" })],
    "0/3 nodes are available: 1 node(s) were not ready, 2 Insufficient cpu.",
  ],
];

test.each(ROWS)("the node that is chosen: %s", (_name, wanted, nodes, choice) => {
  const isMessage = choice.includes(" ");
  expect(chooseNode(wanted, nodes)).toEqual(
    isMessage ? { kind: "none", message: choice } : { kind: "node", name: choice },
  );
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
