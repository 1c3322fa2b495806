import { simulatedControlPlanes, startWorld } from "@resource-broker/testkit";
import { simulatedFaults } from "./testing/api-server-faults.ts";
import { describeFaults } from "./testing/fault-table.ts";

const controlPlanes = simulatedControlPlanes();

describeFaults({
  where: "kube-sim",
  start: (options) => startWorld({ ...options, controlPlanes }),
  servers: simulatedFaults(controlPlanes),
});
