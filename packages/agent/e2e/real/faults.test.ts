import { controlPlaneAssets, realControlPlanes, startWorld } from "@resource-broker/testkit";
import { describe } from "vitest";
import { describeFaults } from "../testing/fault-table.ts";
import { realFaults } from "./testing/real-faults.ts";

const controlPlanes = realControlPlanes();

describe.skipIf(!controlPlaneAssets().isThere)("with a real API server in each cluster", () => {
  describeFaults({
    where: "real control planes",
    start: (options) => startWorld({ ...options, controlPlanes }),
    servers: realFaults(controlPlanes),
  });
});
