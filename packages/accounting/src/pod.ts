import type {
  KubernetesNodeRequirement,
  KubernetesNodeSelectorTerm,
  KubernetesPod,
  ResourceVector,
} from "@resource-broker/base";
import { type CountedResources, DEFAULT_COUNTED_RESOURCES } from "./counted-resources.ts";
import {
  CREATOR_USER_LABEL,
  MANAGED_BY_LABEL,
  NODE_TYPE_LABEL,
  ORIGIN_LABEL,
  ORIGIN_NODE_LABEL,
  REMOTE_CLUSTER_LABEL,
  SHADOW_POD,
  VIRTUAL_NODE_TYPE,
} from "./liqo-labels.ts";
import { isTerminal, podRequest } from "./pod-request.ts";

const HOSTNAME_LABEL = "kubernetes.io/hostname";
const NODE_NAME_FIELD = "metadata.name";
const NO_TERMS: readonly KubernetesNodeSelectorTerm[] = [];

/**
 * True when the pod can only run on a virtual node. A toleration of the virtual node's taint is no sign of it:
 * Liqo adds one to every pod of a namespace that may also run locally. For the same reason every alternative of
 * the affinity must ask for a virtual node, and a preference does not count.
 */
export function selectsVirtualNode(pod: KubernetesPod): boolean {
  const selector = pod.spec?.nodeSelector;
  if (selector?.[NODE_TYPE_LABEL] === VIRTUAL_NODE_TYPE || selector?.[REMOTE_CLUSTER_LABEL] !== undefined) {
    return true;
  }
  const terms = requiredTerms(pod);
  return (
    terms.length > 0 && terms.every((term) => term.matchExpressions?.some(onlyVirtualNodesMatch) ?? false)
  );
}

/** The one node the pod is tied to, as a DaemonSet's pods are before they are bound. */
export function pinnedNode(pod: KubernetesPod): string | undefined {
  const hostname = pod.spec?.nodeSelector?.[HOSTNAME_LABEL];
  if (hostname !== undefined) return hostname;
  const terms = requiredTerms(pod);
  if (terms.length === 0) return undefined;
  const names = new Set(terms.map(nodeNameOf));
  const [name] = names;
  return names.size === 1 ? name : undefined;
}

/** The alternatives of the required affinity; Kubernetes lets an empty one match nothing. */
function requiredTerms(pod: KubernetesPod): readonly KubernetesNodeSelectorTerm[] {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required?.nodeSelectorTerms === undefined) return NO_TERMS;
  return required.nodeSelectorTerms.filter(
    (term) => (term.matchExpressions?.length ?? 0) + (term.matchFields?.length ?? 0) > 0,
  );
}

function onlyVirtualNodesMatch({ key, operator, values = [] }: KubernetesNodeRequirement): boolean {
  if (key !== NODE_TYPE_LABEL && key !== REMOTE_CLUSTER_LABEL) return false;
  if (operator === "Exists") return true;
  if (operator !== "In") return false;
  return key === REMOTE_CLUSTER_LABEL || values.every((value) => value === VIRTUAL_NODE_TYPE);
}

function nodeNameOf(term: KubernetesNodeSelectorTerm): string | undefined {
  const named = term.matchFields?.find(({ key, operator }) => key === NODE_NAME_FIELD && operator === "In");
  return named?.values?.length === 1 ? named.values[0] : undefined;
}

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
