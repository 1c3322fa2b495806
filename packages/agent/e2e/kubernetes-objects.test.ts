import { startWorld } from "@resource-broker/testkit";
import { describeKubernetesWay, MIXED_FLEET } from "./testing/kubernetes-objects.ts";

describeKubernetesWay("kube-sim", { start: () => startWorld({ clusters: MIXED_FLEET, hub: "hub" }) });
