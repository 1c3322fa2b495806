import { startWorld } from "@resource-broker/testkit";
import { describeElevenSteps } from "./testing/eleven-steps.ts";
import { FLEET } from "./testing/fleet.ts";

describeElevenSteps("kube-sim", () => startWorld({ clusters: FLEET }));
