import type { PendingPod } from "./classify-pod.ts";
import { vectorKey } from "./node-shapes.ts";
import type { GuestFacts, PodFacts } from "./pod.ts";

/**
 * Waiting pods that are alike in everything that decides their account. Whether they count depends on the nodes,
 * so it is decided when the totals are read, once for the group: a node that comes or goes costs nothing here.
 */
export interface PendingGroup extends PendingPod {
  readonly key: string;
  readonly guest: GuestFacts | undefined;
  pods: number;
}

export interface PendingPods {
  add(pod: PodFacts): PendingGroup;
  remove(group: PendingGroup): void;
  groups(): Iterable<PendingGroup>;
}

export function pendingPods(): PendingPods {
  const groups = new Map<string, PendingGroup>();
  return {
    add(pod) {
      const key = groupKey(pod);
      const group = groups.get(key) ?? newGroup(pod, key);
      groups.set(key, group);
      group.pods += 1;
      return group;
    },
    remove(group) {
      group.pods -= 1;
      if (group.pods === 0) groups.delete(group.key);
    },
    groups: () => groups.values(),
  };
}

function newGroup(pod: PodFacts, key: string): PendingGroup {
  const { request, gated, selectsVirtualNode, pinnedNode, guest } = pod;
  return { key, request, gated, selectsVirtualNode, pinnedNode, guest, pods: 0 };
}

function groupKey({ request, gated, selectsVirtualNode, pinnedNode, guest }: PodFacts): string {
  return JSON.stringify([
    vectorKey(request),
    gated,
    selectsVirtualNode,
    pinnedNode,
    guest?.origin,
    guest?.sliceName,
  ]);
}
