import { fastEquals, SLOTS, type ResourceVector, writeSlots } from "@resource-broker/base";
import type { PendingPod } from "./classify-pod.ts";
import type { GuestFacts } from "./node-accounting.ts";
import { slotTable } from "./slot-table.ts";

type GroupedPod = PendingPod & { readonly guest: GuestFacts | undefined };

/**
 * Pods that are equal in all fields that decide how they are counted. Pods of one workload share a group. Whether
 * pending pods count depends on the nodes, so it is decided once per group when the totals are read.
 */
export interface PodGroup extends GroupedPod {
  readonly number: number;
  /** Number of pods in the group. */
  pods: number;
}

/** The groups of a cluster's bound or pending pods. A group exists as long as it has pods. */
export function podGroups() {
  // Keyed by a number: a string key would have to be built for every pod event.
  const byHash = new Map<number, PodGroup[]>();
  const byNumber = slotTable<PodGroup>();

  function drop(group: PodGroup): void {
    byNumber.remove(group.number);
    const hash = hashOf(group.request);
    const others = (byHash.get(hash) ?? []).filter((other) => other !== group);
    if (others.length === 0) byHash.delete(hash);
    else byHash.set(hash, others);
  }

  return {
    /** Adds a pod and returns its group. */
    add(pod: GroupedPod): PodGroup {
      const hash = hashOf(pod.request);
      const alike = byHash.get(hash) ?? [];
      let group = alike.find((known) => isSameGroup(known, pod));
      if (group === undefined) {
        const { request, unreadable, gated, selectsVirtualNode, pinnedNode, guest } = pod;
        const fields = { request, unreadable, gated, selectsVirtualNode, pinnedNode, guest };
        group = byNumber.add((number) => ({ number, ...fields, pods: 0 }));
        byHash.set(hash, [...alike, group]);
      }
      group.pods += 1;
      return group;
    },
    /** Removes a pod and returns its group. */
    remove(number: number): PodGroup {
      const group = byNumber.get(number);
      if (group === undefined) throw new RangeError(`there is no pod group ${number}`);
      group.pods -= 1;
      if (group.pods === 0) drop(group);
      return group;
    },
    *all(): Iterable<PodGroup> {
      for (const groups of byHash.values()) yield* groups;
    },
  };
}

/** Byte amounts are usually whole kibibytes, so the lowest bits alone would make many requests alike. */
const KIB = 1024;
const MULTIPLIER = 0x9e37_79b1;
const scratch = new Float64Array(SLOTS.length);

function hashOf(request: ResourceVector): number {
  writeSlots(request, scratch, 0);
  let hash = 0;
  for (const amount of scratch) hash = Math.imul(hash ^ amount ^ (amount / KIB), MULTIPLIER);
  return hash;
}

function isSameGroup(a: GroupedPod, b: GroupedPod): boolean {
  return (
    a.unreadable === b.unreadable &&
    a.gated === b.gated &&
    a.selectsVirtualNode === b.selectsVirtualNode &&
    a.pinnedNode === b.pinnedNode &&
    isSameGuest(a.guest, b.guest) &&
    fastEquals(a.request, b.request)
  );
}

function isSameGuest(a: GuestFacts | undefined, b: GuestFacts | undefined): boolean {
  return a?.reservationId === b?.reservationId && a?.origin === b?.origin;
}
