import type { ResourceVector } from "@resource-broker/base";
import { fastEquals } from "./counted-resources.ts";
import type { GuestFacts } from "./node-accounting.ts";
import { slotTable } from "./slot-table.ts";

/** A group of bound pods with the same request and the same guest. Pods of one workload share a group. */
export interface BoundPodGroup {
  readonly number: number;
  readonly request: ResourceVector;
  readonly guest: GuestFacts | undefined;
  /** A part of the request could not be parsed and is missing in `request`. */
  readonly unreadable: boolean;
  /** Number of pods in the group. */
  pods: number;
}

type GroupedPod = Pick<BoundPodGroup, "request" | "guest" | "unreadable">;

/** The groups of a cluster's bound pods. A group exists as long as it has pods. */
export interface BoundPodGroups {
  /** Adds a pod and returns its group. */
  add(pod: GroupedPod): BoundPodGroup;
  /** Removes a pod and returns its group. */
  remove(number: number): BoundPodGroup;
}

export function boundPodGroups(): BoundPodGroups {
  // Keyed by a number: a string key would have to be built for every pod event.
  const byHash = new Map<number, BoundPodGroup[]>();
  const byNumber = slotTable<BoundPodGroup>();

  function drop(group: BoundPodGroup): void {
    byNumber.remove(group.number);
    const hash = hashOf(group.request);
    const others = (byHash.get(hash) ?? []).filter((other) => other !== group);
    if (others.length === 0) byHash.delete(hash);
    else byHash.set(hash, others);
  }

  return {
    add(pod) {
      const { request, guest, unreadable } = pod;
      const hash = hashOf(request);
      const alike = byHash.get(hash) ?? [];
      let group = alike.find((known) => isSameGroup(known, pod));
      if (group === undefined) {
        group = byNumber.add((number) => ({ number, request, guest, unreadable, pods: 0 }));
        byHash.set(hash, [...alike, group]);
      }
      group.pods += 1;
      return group;
    },
    remove(number) {
      const group = byNumber.get(number);
      if (group === undefined) throw new RangeError(`there is no pod group ${number}`);
      group.pods -= 1;
      if (group.pods === 0) drop(group);
      return group;
    },
  };
}

/** Byte amounts are usually whole kibibytes. */
const KIB = 1024;

function hashOf({ cpuMillis, memoryBytes, storageBytes, gpus }: ResourceVector): number {
  const bytes = Math.imul(memoryBytes / KIB, 31) ^ Math.imul(storageBytes / KIB, 961);
  return Math.imul(cpuMillis, 0x9e37_79b1) ^ bytes ^ gpus;
}

function isSameGroup(group: BoundPodGroup, { request, guest, unreadable }: GroupedPod): boolean {
  if (group.unreadable !== unreadable) return false;
  if (group.guest?.reservationId !== guest?.reservationId || group.guest?.origin !== guest?.origin)
    return false;
  return fastEquals(group.request, request);
}
