import { describe, expect, test } from "vitest";
import { CLUSTER_ADVERTISEMENTS } from "./manifests.ts";
import { listeningAgent } from "./testing/agent-on-hub.ts";
import { advertisementOf, named } from "./testing/objects.ts";

const clusterAtRisk = async () => {
  const { clock, hub, put, read } = await listeningAgent();
  const overcommitted = (clusterId: string, status: "True" | "False", message: string) =>
    hub.writeAdvertisement(clusterId, (object) => ({
      ...object,
      status: {
        conditions: [
          { type: "Overcommitted", status, reason: "x", message, lastTransitionTime: "2026-01-05T12:00:00Z" },
        ],
      },
    }));
  const advertise = (clusterId: string) =>
    hub.cluster.put(CLUSTER_ADVERTISEMENTS, {
      apiVersion: "broker.fluidos.eu/v1alpha1",
      kind: "ClusterAdvertisement",
      metadata: named(`${clusterId}-adv`),
      spec: advertisementOf(clusterId),
    });
  return { clock, hub, put, read, overcommitted, advertise };
};

describe("capacity at risk", () => {
  test("is reported when it begins and when it changes, not what was so before", async () => {
    const { read, advertise, overcommitted } = await clusterAtRisk();
    advertise("paris");
    const reader = read();
    await reader.received();
    overcommitted("paris", "True", "was so when it was first seen");
    expect(await reader.received()).toEqual([]);
    overcommitted("paris", "False", "enough");
    overcommitted("paris", "True", "2 CPU less");
    overcommitted("paris", "True", "2 CPU less");
    overcommitted("paris", "True", "3 CPU less");
    expect(await reader.received()).toEqual(["at-risk: paris: 2 CPU less", "at-risk: paris: 3 CPU less"]);
  });

  test("of a cluster that something is borrowed from is reported while it is", async () => {
    const { clock, hub, put, read, advertise, overcommitted } = await clusterAtRisk();
    advertise("rome");
    put("rsv-a", {}, { requesterID: "paris", targetClusterID: "rome" });
    await clock.advance(0);
    const reader = read();
    await reader.received();
    overcommitted("rome", "False", "enough");
    overcommitted("rome", "True", "2 CPU less");
    expect(await reader.received()).toEqual(["at-risk: rome: 2 CPU less"]);
    hub.writeReservation("rsv-a", { phase: "Released", generation: 2, reason: "Expired" });
    await reader.received();
    overcommitted("rome", "True", "3 CPU less");
    expect(await reader.received()).toEqual([]);
  });
});
