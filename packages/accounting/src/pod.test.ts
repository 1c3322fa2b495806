import { describe, expect, it } from "vitest";
import { resourceVector } from "@resource-broker/base";
import { podFacts } from "./pod.ts";

const GUEST_LABELS = {
  "liqo.io/managed-by": "shadowpod",
  "offloading.liqo.io/origin": "rome-liqo",
  "offloading.liqo.io/nodename": "rsv-rome-abc",
  "liqo.io/creator-user": "rsv-rome-abc-0a1b2c3d4e5f",
};
const guestOf = (labels: Record<string, string>) => podFacts({ metadata: { labels } }).facts.guest;

describe("pod facts", () => {
  it("keep what the accounting needs of a pod", () => {
    const { facts, problems } = podFacts({
      metadata: { namespace: "shop", name: "web-1" },
      spec: { nodeName: "node-1", containers: [{ name: "web", resources: { requests: { cpu: "1" } } }] },
      status: { phase: "Running" },
    });
    expect(problems).toEqual([]);
    expect(facts).toEqual({
      key: "shop/web-1",
      nodeName: "node-1",
      terminal: false,
      request: resourceVector({ cpuMillis: 1000 }),
      unreadable: false,
      guest: undefined,
      gated: false,
      selectsVirtualNode: false,
      pinnedNode: undefined,
    });
  });

  it("of an empty object are those of a waiting pod that asks for nothing", () => {
    expect(podFacts({}).facts).toMatchObject({ key: "/", nodeName: undefined, terminal: false });
  });

  it("tell a request that cannot be counted", () => {
    const containers = [{ name: "web", resources: { requests: { cpu: "1e18", memory: "1Gi" } } }];
    const { facts, problems } = podFacts({ spec: { nodeName: "node-1", containers } });
    expect(facts).toMatchObject({ unreadable: true, request: { memoryBytes: 1024 ** 3 } });
    expect(problems).toEqual([expect.stringContaining('"1e18" is too large')]);
  });

  it("take an empty node name for none", () => {
    expect(podFacts({ spec: { nodeName: "" } }).facts.nodeName).toBeUndefined();
  });

  it("tell a gated pod and a selector of virtual nodes", () => {
    const { facts } = podFacts({
      spec: { schedulingGates: [{ name: "quota" }], nodeSelector: { "liqo.io/type": "virtual-node" } },
    });
    expect(facts).toMatchObject({ gated: true, selectsVirtualNode: true });
    expect(podFacts({ spec: { schedulingGates: [] } }).facts.gated).toBe(false);
  });

  it.each([
    ["Succeeded", true],
    ["Failed", true],
    ["Running", false],
    ["Pending", false],
    ["Unknown", false],
  ])("in phase %s say terminal %s", (phase, terminal) => {
    expect(podFacts({ status: { phase } }).facts.terminal).toBe(terminal);
  });

  it("hand on what could not be read", () => {
    const { problems } = podFacts({ spec: { overhead: { cpu: "?" } } });
    expect(problems).toEqual([expect.stringMatching(/^spec\.overhead\.cpu: /)]);
  });
});

describe("a guest pod", () => {
  it("is known by its four labels", () => {
    expect(guestOf(GUEST_LABELS)).toEqual({
      sliceName: "rsv-rome-abc",
      origin: "rome-liqo",
      creatorUser: "rsv-rome-abc-0a1b2c3d4e5f",
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
