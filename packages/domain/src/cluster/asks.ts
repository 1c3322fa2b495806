import type { ResourceVector } from "../resources/resource-vector.ts";
import { numbered } from "./numbered.ts";
import type { GuestFacts } from "./pod.ts";
import { isSameVector } from "./same-vector.ts";

/** A group of bound pods with the same request and the same guest. Pods of one workload share a group. */
export interface Ask {
  readonly number: number;
  readonly request: ResourceVector;
  readonly guest: Pick<GuestFacts, "sliceName" | "origin"> | undefined;
  /** A part of the request could not be parsed and is missing in `request`. */
  readonly unreadable: boolean;
  /** Number of pods in the group. */
  pods: number;
}

type AskingPod = Pick<Ask, "request" | "guest" | "unreadable">;

/** The groups of a cluster's bound pods. A group exists as long as it has pods. */
export interface Asks {
  /** Adds a pod and returns its group. */
  take(pod: AskingPod): Ask;
  /** Removes a pod and returns its group. */
  release(number: number): Ask;
}

export function asks(): Asks {
  // Keyed by a number: a string key would have to be built for every pod event.
  const byHash = new Map<number, Ask[]>();
  const byNumber = numbered<Ask>();

  function forget(ask: Ask): void {
    byNumber.remove(ask.number);
    const hash = hashOf(ask.request);
    const others = (byHash.get(hash) ?? []).filter((other) => other !== ask);
    if (others.length === 0) byHash.delete(hash);
    else byHash.set(hash, others);
  }

  return {
    take(pod) {
      const { request, guest, unreadable } = pod;
      const hash = hashOf(request);
      const alike = byHash.get(hash) ?? [];
      let ask = alike.find((known) => isSame(known, pod));
      if (ask === undefined) {
        ask = byNumber.add((number) => ({ number, request, guest, unreadable, pods: 0 }));
        byHash.set(hash, [...alike, ask]);
      }
      ask.pods += 1;
      return ask;
    },
    release(number) {
      const ask = byNumber.get(number);
      if (ask === undefined) throw new RangeError(`there is no pod group ${number}`);
      ask.pods -= 1;
      if (ask.pods === 0) forget(ask);
      return ask;
    },
  };
}

/** Byte amounts are usually whole kibibytes. */
const KIB = 1024;

function hashOf({ cpuMillis, memoryBytes, storageBytes, gpus }: ResourceVector): number {
  const bytes = Math.imul(memoryBytes / KIB, 31) ^ Math.imul(storageBytes / KIB, 961);
  return Math.imul(cpuMillis, 0x9e37_79b1) ^ bytes ^ gpus;
}

function isSame(ask: Ask, { request, guest, unreadable }: AskingPod): boolean {
  if (ask.unreadable !== unreadable) return false;
  if (ask.guest?.sliceName !== guest?.sliceName || ask.guest?.origin !== guest?.origin) return false;
  return isSameVector(ask.request, request);
}
