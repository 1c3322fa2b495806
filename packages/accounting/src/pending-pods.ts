import type { PendingPod } from "./classify-pod.ts";
import type { GuestFacts } from "./node-accounting.ts";
import { vectorKey } from "./node-shapes.ts";
import type { PodFacts } from "./pod.ts";
import { slotTable } from "./slot-table.ts";

/**
 * Pending pods that are equal in all fields that decide how they are counted. Whether they count depends on the nodes, so it
 * is decided once per group when the totals are read. Node changes cost nothing here.
 */
export interface PendingGroup extends PendingPod {
  readonly number: number;
  readonly key: string;
  readonly guest: GuestFacts | undefined;
  pods: number;
}

export interface PendingPods {
  /** Returns the number of the group that the pod went to. */
  add(pod: PodFacts): number;
  /** Takes one pod out of a group. */
  remove(group: number): void;
  groups(): Iterable<PendingGroup>;
}

export function pendingPods(): PendingPods {
  const groups = new Map<string, PendingGroup>();
  const byNumber = slotTable<PendingGroup>();
  return {
    add(pod) {
      const key = groupKey(pod);
      const group = groups.get(key) ?? byNumber.add((number) => newGroup(pod, { key, number }));
      groups.set(key, group);
      group.pods += 1;
      return group.number;
    },
    remove(number) {
      const group = byNumber.get(number);
      if (group === undefined) return;
      group.pods -= 1;
      if (group.pods > 0) return;
      groups.delete(group.key);
      byNumber.remove(number);
    },
    groups: () => groups.values(),
  };
}

function newGroup(pod: PodFacts, name: { readonly key: string; readonly number: number }): PendingGroup {
  const { request, unreadable, gated, selectsVirtualNode, pinnedNode, guest } = pod;
  return { ...name, request, unreadable, gated, selectsVirtualNode, pinnedNode, guest, pods: 0 };
}

function groupKey({ request, unreadable, gated, selectsVirtualNode, pinnedNode, guest }: PodFacts): string {
  return JSON.stringify([
    vectorKey(request),
    unreadable,
    gated,
    selectsVirtualNode,
    pinnedNode,
    guest?.origin,
    guest?.reservationId,
  ]);
}
