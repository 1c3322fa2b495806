import type { ResourceVector } from "../resources/resource-vector.ts";
import { type CountedResources, DEFAULT_COUNTED_RESOURCES } from "./counted-resources.ts";
import type { KubernetesPod } from "./kubernetes.ts";
import {
  CREATOR_USER_LABEL,
  MANAGED_BY_LABEL,
  ORIGIN_LABEL,
  ORIGIN_NODE_LABEL,
  SHADOW_POD,
} from "./liqo-labels.ts";
import { pinnedNode, selectsVirtualNode } from "./node-selection.ts";
import { isTerminal, podRequest } from "./pod-request.ts";

/** Whom a pod runs for, as Liqo labels it on the provider. */
export interface GuestFacts {
  /** The Liqo slice, named after the reservation. */
  readonly sliceName: string;
  /** Liqo's ID of the cluster the pod comes from. */
  readonly origin: string;
  readonly creatorUser: string;
}

/** All that the accounting keeps of a Pod. */
export interface PodFacts {
  /** As `podKey` makes it. */
  readonly key: string;
  readonly nodeName: string | undefined;
  readonly terminal: boolean;
  readonly request: ResourceVector;
  /** Part of the request could not be read and is missing in it: how much the pod takes is not known. */
  readonly unreadable: boolean;
  readonly guest: GuestFacts | undefined;
  /** Has a scheduling gate: it is not scheduled until the gate is removed. */
  readonly gated: boolean;
  readonly selectsVirtualNode: boolean;
  readonly pinnedNode: string | undefined;
}

export interface PodReading {
  readonly facts: PodFacts;
  readonly problems: readonly string[];
}

export function podFacts(
  pod: KubernetesPod,
  resources: CountedResources = DEFAULT_COUNTED_RESOURCES,
): PodReading {
  const { spec = {} } = pod;
  const { request, problems } = podRequest(pod, resources);
  const facts: PodFacts = {
    key: podKey(pod),
    nodeName: spec.nodeName || undefined,
    terminal: isTerminal(pod),
    request,
    unreadable: problems.length > 0,
    guest: guestFacts(pod),
    gated: (spec.schedulingGates?.length ?? 0) > 0,
    selectsVirtualNode: selectsVirtualNode(pod),
    pinnedNode: pinnedNode(pod),
  };
  return { facts, problems };
}

/** Identifies a pod, also against a later pod of the same name: its UID, or its name when it has none. */
export function podKey({ metadata = {} }: KubernetesPod): string {
  return metadata.uid || `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}

/**
 * Undefined also when the labels contradict each other: Liqo's webhook sets the creator to `<slice>-<hex digest>`, so a pod
 * that claims another slice is not trusted and counts as the cluster's own load.
 */
function guestFacts(pod: KubernetesPod): GuestFacts | undefined {
  const labels = pod.metadata?.labels;
  if (labels?.[MANAGED_BY_LABEL] !== SHADOW_POD) return undefined;
  const sliceName = labels[ORIGIN_NODE_LABEL] ?? "";
  const origin = labels[ORIGIN_LABEL] ?? "";
  const creatorUser = labels[CREATOR_USER_LABEL] ?? "";
  if (sliceName === "" || origin === "" || !isCreatorOf(sliceName, creatorUser)) return undefined;
  return { sliceName, origin, creatorUser };
}

function isCreatorOf(sliceName: string, creatorUser: string): boolean {
  return (
    creatorUser.startsWith(`${sliceName}-`) && /^[0-9a-f]+$/.test(creatorUser.slice(sliceName.length + 1))
  );
}
