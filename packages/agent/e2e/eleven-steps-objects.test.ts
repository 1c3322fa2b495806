import { startWorld } from "@resource-broker/testkit";
import { describeElevenSteps } from "./testing/eleven-steps.ts";
import { FLEET } from "./testing/fleet.ts";

/** rome and paris speak through objects, berlin and tokyo over HTTPS; one broker serves both. */
const MIXED = FLEET.map((plan) =>
  plan.name === "rome" || plan.name === "paris" ? { ...plan, transport: "kubernetes" as const } : plan,
);

describeElevenSteps("kube-sim, through objects of the broker's cluster", () =>
  startWorld({ clusters: MIXED, hub: "hub" }),
);
