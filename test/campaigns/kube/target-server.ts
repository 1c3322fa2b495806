import type { ObjectName } from "@resource-broker/kube";
import { kubeClientFor, outputOf, type RealControlPlane } from "@resource-broker/testkit";
import { type FaultyServer, realServers, simulatedServers } from "../frame/faulty-servers.ts";
import { clientObjects, NAMESPACE, type Objects, simObjects } from "./objects.ts";

const NAME = "victim";

/** An API server that things are done to. */
export interface TargetServer {
  readonly name: "kube-sim" | "kube-apiserver";
  /** The text of a kubeconfig: the way that is disturbed. */
  readonly kubeconfig: string;
  readonly objects: Objects;
  readonly server: FaultyServer;
  /** Its objects can be changed also while it is killed or paused. */
  readonly canAlwaysChange: boolean;
  /** It loses its memory of older versions. */
  readonly compact: () => void;
  readonly dispose: () => Promise<void>;
}

export async function simServer(): Promise<TargetServer> {
  const planes = simulatedServers({ behaves: false });
  const { kubeconfig } = await planes.start(NAME, []);
  const cluster = planes.cluster(NAME);
  return {
    name: "kube-sim",
    kubeconfig,
    objects: simObjects(cluster),
    server: planes.server(NAME),
    canAlwaysChange: true,
    compact: cluster.faults.compact,
    dispose: planes.stop,
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
  for (const call of calls) outputOf(["kubectl", call], await kubectl(call.split(" ")));
  return account;
}

export async function realServer(): Promise<TargetServer> {
  const planes = realServers();
  await planes.start(NAME, []);
  const { plane, access } = planes.reached(NAME);
  const writer = kubeClientFor(plane.kubeconfig);
  const objects = await clientObjects(writer);
  return {
    name: "kube-apiserver",
    kubeconfig: await access.kubeconfigFor(await reader(plane)),
    objects,
    server: planes.server(NAME),
    canAlwaysChange: false,
    // Its memory is etcd's, and it would need a restart.
    compact: () => undefined,
    dispose: async () => {
      writer.close();
      await planes.stop();
    },
  };
}
