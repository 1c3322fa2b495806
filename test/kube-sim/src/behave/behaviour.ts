import type { Watch, WatchChange } from "../api/cluster-api.ts";
import { nameOf } from "../core/look.ts";
import { NODES } from "../core/nodes.ts";
import { PODS } from "../core/pods/pods.ts";
import { createKubelet } from "./kubelet.ts";
import { createNodeCache } from "./node-cache.ts";
import { type BehaviourDeps, createScheduler } from "./scheduler.ts";

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
