import { describe, expect, test } from "vitest";
import { readDesired } from "./desired-virtual-node.ts";
import { aDeliverySpec, aDesiredVirtualNode, TERMS } from "./testing/samples.ts";

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
    });
  });

  test.each(["..", "a..b", "../x", "--kubeconfig=/etc/passwd", "-x", "a b", "a/b", "A", "", "x".repeat(64)])(
    "of a cluster %j is refused",
    (id) => {
      expect(readDesired(aDeliverySpec({ targetClusterID: id }), TERMS)).toMatchObject({
        ok: false,
        obstacle: { reason: "ClusterIDRefused" },
      });
      expect(readDesired(aDeliverySpec({ targetLiqoID: id }), TERMS)).toMatchObject({
        ok: false,
        obstacle: { reason: "LiqoIDRefused" },
      });
    },
  );

  test.each([
    ["Liqo IDs with dots", { targetLiqoID: "calm.paris" }, "LiqoIDRefused"],
    ["reservations of older brokers with long names", { id: `rsv-${"x".repeat(60)}` }, "NameRefused"],
    ["reservations with dots in their names", { id: "rsv.rome" }, "NameRefused"],
  ])("with %s is refused", (_, changes, reason) => {
    expect(readDesired(aDeliverySpec(changes), TERMS)).toMatchObject({ ok: false, obstacle: { reason } });
  });

  test("of a cluster without Liqo says what to do", () => {
    const reservation = { ...aDeliverySpec().reservation, dataPlaneIds: {} };
    expect(readDesired({ reservation }, TERMS)).toMatchObject({
      ok: false,
      obstacle: { reason: "LiqoIDUnknown", message: expect.stringContaining("install Liqo there") },
    });
  });

  test("for some pods of a namespace is refused: Liqo knows only whole ones", () => {
    const some = { namespaces: ["shop"], podSelector: { app: "web" } };
    expect(readDesired(aDeliverySpec({}, some), TERMS)).toMatchObject({
      obstacle: { reason: "PodSelectorUnsupported" },
    });
    expect(readDesired(aDeliverySpec({}, { namespaces: ["shop"], podSelector: {} }), TERMS)).toMatchObject({
      ok: true,
    });
  });
});
