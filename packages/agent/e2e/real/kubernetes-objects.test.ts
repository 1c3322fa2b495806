import { controlPlaneAssets, realControlPlanes, startWorld } from "@resource-broker/testkit";
import { describe } from "vitest";
import { describeKubernetesWay, MIXED_FLEET } from "../testing/kubernetes-objects.ts";

const assets = controlPlaneAssets();

describe.skipIf(!assets.isThere)("with a real API server in each cluster", () => {
  describeKubernetesWay("real control planes", {
    start: () => startWorld({ clusters: MIXED_FLEET, hub: "hub", controlPlanes: realControlPlanes() }),
    ...(assets.isThere ? { kubectl: assets.pathOf("kubectl") } : {}),
  });
});
