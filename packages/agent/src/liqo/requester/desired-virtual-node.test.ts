import type { ReservationDTO } from "@resource-broker/contract";
import { describe, expect, test } from "vitest";
import type { Offload } from "../../data-plane/data-plane.ts";
import { readDesired } from "./desired-virtual-node.ts";
import { aDeliverySpec, aDesiredVirtualNode } from "./testing/samples.ts";

const SHOP: Offload = { namespaces: ["shop"] };

describe("a reservation", () => {
  test("is known by the broker's and by Liqo's names", () => {
    expect(
      aDesiredVirtualNode({
        status: { phase: "Active", message: "", expiresAt: "2026-07-01T12:00:00+02:00" },
      }),
    ).toEqual({
      id: "rsv-rome-k3u7dq2hvmx5b4ta",
      clusterId: "paris",
      liqoId: "calm-paris",
      ownLiqoId: "cool-rome",
      resources: { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" },
      unreserved: ["pods", "ephemeral-storage"],
      expiresAt: "2026-07-01T10:00:00.000Z",
      offload: undefined,
      isUnderNotice: false,
    });
  });

  const read = (changes: Partial<ReservationDTO>, offload?: Offload) => {
    const reading = readDesired(aDeliverySpec(changes, offload), "nvidia.com/gpu");
    return reading.ok ? "ok" : reading.obstacle.reason;
  };

  test.each(["..", "a..b", "../x", "--kubeconfig=/etc/passwd", "-x", "a b", "a/b", "A", "", "x".repeat(64)])(
    "of a cluster %j is refused",
    (id) => {
      expect(read({ targetClusterID: id })).toBe("ClusterIDRefused");
      expect(read({ targetLiqoID: id })).toBe("LiqoIDRefused");
    },
  );

  test.each<[string, Partial<ReservationDTO>, Offload | undefined, string]>([
    ["Liqo IDs with dots", { targetLiqoID: "calm.paris" }, undefined, "LiqoIDRefused"],
    ["the long names of older brokers", { id: `rsv-${"x".repeat(60)}` }, undefined, "NameRefused"],
    ["dots in their names", { id: "rsv.rome" }, undefined, "NameRefused"],
    ["a cluster without Liqo", { targetLiqoID: undefined as never }, undefined, "LiqoIDUnknown"],
    ["some pods of a namespace", {}, { ...SHOP, podSelector: { app: "web" } }, "PodSelectorUnsupported"],
    ["all pods of a namespace", {}, { ...SHOP, podSelector: {} }, "ok"],
  ])("with %s is refused, or not", (_, changes, offload, reason) => {
    expect(read(changes, offload)).toBe(reason);
  });

  const usual = { pods: "110", "ephemeral-storage": "20Gi" };
  const BOTH = { cpu: "4", memory: "8Gi" };
  const told = { pods: 50, ephemeralStorage: "5Gi" };
  const none = { storage: "0", gpu: "0", extended: { "example.com/fpga": "0" } };
  const all = { storage: "5Gi", gpu: "2", extended: { "example.com/fpga": "1" } };
  const taken = { "ephemeral-storage": "5Gi", "nvidia.com/gpu": "2", "example.com/fpga": "1" };
  test.each<[string, Partial<ReservationDTO>, object, string[]]>([
    ["states what nobody reserved", {}, usual, ["pods", "ephemeral-storage"]],
    [
      "takes over storage, GPUs and others",
      { requestedResources: { ...BOTH, ...all } },
      { pods: "110", ...taken },
      ["pods"],
    ],
    [
      "names nothing of which there is none",
      { requestedResources: { ...BOTH, ...none } },
      usual,
      ["pods", "ephemeral-storage"],
    ],
    [
      "takes the broker's word for what nobody reserved",
      { sliceDefaults: told },
      { pods: "50", "ephemeral-storage": "5Gi" },
      ["pods", "ephemeral-storage"],
    ],
    [
      "takes the broker's word only for that",
      { sliceDefaults: told, requestedResources: { ...BOTH, storage: "30Gi" } },
      { pods: "50", "ephemeral-storage": "30Gi" },
      ["pods"],
    ],
  ])("asks with its slice, which %s", (_, changes, more, unreserved) => {
    const { resources, ...desired } = aDesiredVirtualNode(changes);
    expect(resources).toEqual({ ...BOTH, ...more });
    expect(desired.unreserved).toEqual(unreserved);
  });
});
