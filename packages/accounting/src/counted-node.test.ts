import { describe, expect, it } from "vitest";
import { nodeVerdict, type ToleratedTaint, type UncountedNodeReason } from "./counted-node.ts";
import type { NodeFacts } from "./node.ts";
import { aNode } from "./testing/facts.ts";

const NO_SCHEDULE = { key: "dedicated", value: "batch", effect: "NoSchedule" };
const NO_EXECUTE = { key: "broken", value: "", effect: "NoExecute" };
const PREFER = { key: "busy", value: "", effect: "PreferNoSchedule" };

interface Row extends Partial<NodeFacts> {
  readonly tolerated?: readonly ToleratedTaint[];
  readonly is: "counted" | UncountedNodeReason;
}

const ROWS: Readonly<Record<string, Row>> = {
  "a healthy node is counted": { is: "counted" },
  "a virtual node is not": { virtual: true, is: "virtual" },
  "a node that is not ready is not": { ready: false, is: "not-ready" },
  "a cordoned node is not": { unschedulable: true, is: "unschedulable" },
  "a cordoned node is not, whatever is tolerated": {
    unschedulable: true,
    tolerated: [{ key: "node.kubernetes.io/unschedulable" }],
    is: "unschedulable",
  },
  "a NoSchedule taint excludes": { taints: [NO_SCHEDULE], is: "tainted" },
  "a NoExecute taint excludes": { taints: [NO_EXECUTE], is: "tainted" },
  "a PreferNoSchedule taint does not": { taints: [PREFER], is: "counted" },
  "a tolerated taint does not": { taints: [NO_SCHEDULE], tolerated: [{ key: "dedicated" }], is: "counted" },
  "a taint of another value than the tolerated one does": {
    taints: [NO_SCHEDULE],
    tolerated: [{ key: "dedicated", value: "web" }],
    is: "tainted",
  },
  "one taint of two tolerated is not enough": {
    taints: [NO_SCHEDULE, NO_EXECUTE],
    tolerated: [{ key: "dedicated" }],
    is: "tainted",
  },
  "being virtual is named before anything else": {
    virtual: true,
    ready: false,
    unschedulable: true,
    is: "virtual",
  },
};

describe("a node's verdict", () => {
  it.each(Object.entries(ROWS))("%s", (_, { tolerated = [], is, ...facts }) => {
    const verdict = nodeVerdict(aNode(facts), tolerated);
    expect(verdict.counted ? "counted" : verdict.reason).toBe(is);
  });

  it("names the taint and the flag that tolerates it", () => {
    expect(nodeVerdict(aNode({ taints: [NO_SCHEDULE] }), [])).toEqual({
      counted: false,
      reason: "tainted",
      message: "has the taint dedicated=batch:NoSchedule; add it to --tolerated-taints to count the node",
    });
    expect(nodeVerdict(aNode({ taints: [NO_EXECUTE] }), [])).toMatchObject({
      message: expect.stringContaining("has the taint broken:NoExecute;"),
    });
  });
});
