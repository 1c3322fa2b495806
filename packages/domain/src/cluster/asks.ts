import type { ResourceVector } from "../resources/resource-vector.ts";
import { numbered } from "./numbered.ts";
import type { GuestFacts } from "./pod.ts";
import { isSameVector } from "./same-vector.ts";

/** What bound pods ask for, and on whose behalf. Pods that are alike in this share one: workloads are few. */
export interface Ask {
  readonly number: number;
  readonly request: ResourceVector;
  readonly guest: Pick<GuestFacts, "sliceName" | "origin"> | undefined;
  /** Part of it could not be read and is missing in `request`. */
  readonly unreadable: boolean;
  /** How many pods ask for it. */
  pods: number;
}

type AskingPod = Pick<Ask, "request" | "guest" | "unreadable">;

/** The asks of a cluster's bound pods; each lives as long as there are pods of it. */
export interface Asks {
  /** The ask of one pod more. */
  take(pod: AskingPod): Ask;
  /** One pod less; returns what it asked for. */
  release(number: number): Ask;
}

export function asks(): Asks {
  // By a number and not by a text, which would have to be made anew for every pod that is looked at.
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
      if (ask === undefined) throw new RangeError(`there is no ask ${number}`);
      ask.pods -= 1;
      if (ask.pods === 0) forget(ask);
      return ask;
    },
  };
}

/** Bytes come in whole kibibytes. */
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
