import { controlPlaneAssets, realControlPlanes, startWorld } from "@resource-broker/testkit";
import { describe } from "vitest";
import { describeElevenSteps } from "../testing/eleven-steps.ts";
import { FLEET } from "../testing/fleet.ts";

describe.skipIf(!controlPlaneAssets().isThere)("with a real API server in each cluster", () => {
  describeElevenSteps("real control planes", () =>
    startWorld({ clusters: FLEET, controlPlanes: realControlPlanes() }),
  );
});
