import { randomBytes } from "node:crypto";
import type { ObjectName } from "@resource-broker/kube";
import { createKubeSim } from "@resource-broker/kube-sim";
import { systemClock } from "@resource-broker/runtime";
import { freePorts, kubeClientFor, type RealControlPlane, startControlPlane } from "@resource-broker/testkit";
import { clientObjects, NAMESPACE, type Objects, simObjects } from "./objects.ts";

export type Disruption = "kill" | "pause" | "cut";
export const DISRUPTIONS: readonly Disruption[] = ["kill", "pause", "cut"];

export interface DisruptionStep {
  readonly disruption: Disruption;
  /** What happens while the server is away. Changes are made by `change` where they can be. */
  readonly meanwhile: (canChange: boolean) => Promise<void>;
  /** True: the server also loses its memory of older versions, if it can be made to. */
  readonly compacts: boolean;
}

/** An API server that things are done to. */
export interface TargetServer {
  readonly name: "kube-sim" | "kube-apiserver";
  /** The text of a kubeconfig: the way that is disturbed. */
  readonly kubeconfig: string;
  readonly objects: Objects;
  /** Resolves when the server is back. */
  readonly disrupt: (strike: DisruptionStep) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

export async function simServer(): Promise<TargetServer> {
  const clock = systemClock(() => Math.round(performance.timeOrigin + performance.now()));
  const sim = createKubeSim({ clock, randomBytes });
  // While it is down, its port must stay free for it.
  const [port = 0] = await freePorts(1);
  const cluster = await sim.addCluster({ name: "victim", port, behaves: false });
  const { faults: controls } = cluster;
  const begin = { kill: controls.down, pause: controls.pause, cut: controls.cut };
  const end = { kill: controls.up, pause: controls.resume, cut: controls.cut };
  return {
    name: "kube-sim",
    kubeconfig: cluster.kubeconfig,
    objects: simObjects(cluster),
    disrupt: async ({ disruption, meanwhile, compacts }) => {
      await begin[disruption]();
      await meanwhile(true);
      if (compacts) controls.compact();
      await end[disruption]();
    },
    dispose: sim.stop,
  };
}

/** An account with the rights of an informer: an API server that has just started may not know them yet. */
async function reader({ kubectl }: RealControlPlane): Promise<Required<ObjectName>> {
  const account = { namespace: NAMESPACE, name: "reader" };
  const calls = [
    `create serviceaccount reader -n ${NAMESPACE}`,
    "create clusterrole reader --verb=list,watch --resource=pods,configmaps",
    `create clusterrolebinding reader --clusterrole=reader --serviceaccount=${NAMESPACE}:reader`,
  ];
  for (const call of calls) {
    const { exitCode, stderr } = await kubectl(call.split(" "));
    if (exitCode !== 0) throw new Error(`kubectl ${call}: ${stderr}`);
  }
  return account;
}

/** SIGKILL and a new process, SIGSTOP and SIGCONT, or a proxy that breaks every connection and refuses new ones. */
export async function realServer(): Promise<TargetServer> {
  const plane = await startControlPlane({ name: "victim" });
  const { apiServer } = plane;
  const { proxy, kubeconfigFor } = await plane.proxied();
  const writer = kubeClientFor(plane.kubeconfig);
  const objects = await clientObjects(writer);
  const begin = {
    kill: apiServer.kill,
    pause: apiServer.pause,
    cut: () => {
      proxy.refuse();
      proxy.cut();
    },
  };
  const end = { kill: apiServer.restart, pause: apiServer.resume, cut: proxy.admit };
  return {
    name: "kube-apiserver",
    kubeconfig: await kubeconfigFor(await reader(plane)),
    objects,
    disrupt: async ({ disruption, meanwhile }) => {
      await begin[disruption]();
      await meanwhile(disruption === "cut");
      await end[disruption]();
    },
    dispose: async () => {
      writer.close();
      await plane.dispose();
    },
  };
}
