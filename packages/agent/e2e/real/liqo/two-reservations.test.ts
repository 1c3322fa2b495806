import { controlPlaneAssets, liqoAssets, liqoDeployment, realControlPlanes } from "@resource-broker/testkit";
import { describe } from "vitest";
import { startLiqoWorld } from "../../liqo/testing/liqo-world.ts";
import { describeLiqoWay, TWO_CLUSTERS } from "../../liqo/testing/two-reservations.ts";

const assets = liqoAssets();

describe.skipIf(assets === undefined)("with Liqo's own definitions", () => {
  const liqoObjects = assets?.definitions ?? [];
  describeLiqoWay("kube-sim", () => startLiqoWorld({ clusters: TWO_CLUSTERS, liqoObjects }));

  describe.skipIf(!controlPlaneAssets().isThere)("and a real API server in each cluster", () => {
    describeLiqoWay("real control planes", () =>
      startLiqoWorld({
        clusters: TWO_CLUSTERS,
        controlPlanes: realControlPlanes(),
        liqoObjects: [...liqoObjects, liqoDeployment()],
      }),
    );
  });
});
