import { resourceVector } from "@resource-broker/base";
import { describe, expect, it } from "vitest";
import { NO_DATA_PLANE } from "./node-accounting.ts";
import { podFacts } from "./pod.ts";

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

  it("tell a gated pod", () => {
    expect(podFacts({ spec: { schedulingGates: [{ name: "quota" }] } }).facts.gated).toBe(true);
    expect(podFacts({ spec: { schedulingGates: [] } }).facts.gated).toBe(false);
  });

  it("tell what the data plane recognizes", () => {
    const guest = { reservationId: "rsv-rome-abc", origin: "rome" };
    const accounting = { ...NO_DATA_PLANE, selectsVirtualNode: () => true, guestOf: () => guest };
    expect(podFacts({}, undefined, accounting).facts).toMatchObject({ selectsVirtualNode: true, guest });
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
