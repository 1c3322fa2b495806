import { parentPort } from "node:worker_threads";
import { brokerDefinitions } from "@resource-broker/broker/testing";
import { simulatedControlPlanes } from "@resource-broker/testkit";

/** What the campaign asks of the simulated API server. It has a thread of its own, so that load does not slow it down. */
export type ServerCommand = "down" | "up" | "pause" | "resume";

const planes = simulatedControlPlanes();
const { kubeconfig } = await planes.start("broker", brokerDefinitions());
const { faults, url } = planes.cluster("broker");

parentPort?.on("message", (order: ServerCommand) => {
  void Promise.resolve(faults[order]()).then(() => parentPort?.postMessage("done"));
});
parentPort?.postMessage({ kubeconfig, port: Number(new URL(url).port) });
