import type { ClusterApi, Watch, WatchChange } from "../api/cluster-api.ts";
import { CONFIG_MAPS } from "../core/config-maps.ts";
import { NAMESPACES, NODES, SERVICE_ACCOUNTS } from "../core/kinds.ts";
import { PODS } from "../core/pods.ts";
import { isTerminating, type JsonObject, nameOf } from "../json.ts";
import { createKubelet } from "./kubelet.ts";
import { attempt, type BehaviourDeps, createNodeCache, createScheduler } from "./scheduler.ts";

const FROM_THE_START = { resourceVersion: "", sendInitialEvents: true } as const;

/** Makes a cluster breathe: pods are placed, start and end. */
export function startBehaviour(deps: BehaviourDeps): Watch {
  const { api } = deps;
  const cache = createNodeCache();
  const scheduler = createScheduler(cache, deps);
  const kubelet = createKubelet(cache, deps);
  const onNode = (change: WatchChange): void => {
    const before = cache.node(nameOf(change.object));
    if (cache.onNode(change)) scheduler.retry();
    kubelet.onNode(change, before);
  };
  const onPod = (change: WatchChange): void => {
    const isRoomier = cache.onPod(change);
    scheduler.onPod(change);
    kubelet.onPod(change);
    if (isRoomier) scheduler.retry();
  };
  const nodes = api.watch({ definition: NODES }, FROM_THE_START, onNode);
  const pods = api.watch({ definition: PODS }, FROM_THE_START, onPod);
  return {
    stop: () => {
      nodes.stop();
      pods.stop();
    },
  };
}

const WRITE = { dryRun: false, fieldManager: "kube-controller-manager", fieldValidation: "Ignore" } as const;
const FIRST_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Every namespace has a service account and the cluster's certificate, as in real clusters. */
export function populateNamespaces(api: ClusterApi, ca: string): Watch {
  for (const name of FIRST_NAMESPACES) api.create({ definition: NAMESPACES }, { metadata: { name } }, WRITE);
  return api.watch({ definition: NAMESPACES }, FROM_THE_START, (change) => {
    if (change.type === "ADDED") populate(api, change.object, ca);
  });
}

function populate(api: ClusterApi, namespace: JsonObject, ca: string): void {
  if (isTerminating(namespace)) return;
  const name = nameOf(namespace);
  const account = { metadata: { name: "default" } };
  const certificate = { metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": ca } };
  attempt(undefined, () => {
    api.create({ definition: SERVICE_ACCOUNTS, namespace: name }, account, WRITE);
  });
  attempt(undefined, () => {
    api.create({ definition: CONFIG_MAPS, namespace: name }, certificate, WRITE);
  });
}
