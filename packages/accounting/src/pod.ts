import type { KubernetesNodeSelectorTerm, KubernetesPod, ResourceVector } from "@resource-broker/base";
import { type CountedResources, DEFAULT_COUNTED_RESOURCES } from "./counted-resources.ts";
import { type GuestFacts, NO_DATA_PLANE, type NodeAccounting } from "./node-accounting.ts";
import { isTerminal, podRequest } from "./pod-request.ts";

const HOSTNAME_LABEL = "kubernetes.io/hostname";
const NODE_NAME_FIELD = "metadata.name";
const NO_TERMS: readonly KubernetesNodeSelectorTerm[] = [];

/** The one node the pod is tied to, as a DaemonSet's pods are before they are bound. */
function pinnedNode(pod: KubernetesPod): string | undefined {
  const hostname = pod.spec?.nodeSelector?.[HOSTNAME_LABEL];
  if (hostname !== undefined) return hostname;
  const terms = requiredTerms(pod);
  if (terms.length === 0) return undefined;
  const names = new Set(terms.map(nodeNameOf));
  const [name] = names;
  return names.size === 1 ? name : undefined;
}

/** The alternatives of the required affinity; Kubernetes lets an empty one match nothing. */
export function requiredTerms(pod: KubernetesPod): readonly KubernetesNodeSelectorTerm[] {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (required?.nodeSelectorTerms === undefined) return NO_TERMS;
  return required.nodeSelectorTerms.filter(
    (term) => (term.matchExpressions?.length ?? 0) + (term.matchFields?.length ?? 0) > 0,
  );
}

function nodeNameOf(term: KubernetesNodeSelectorTerm): string | undefined {
  const named = term.matchFields?.find(({ key, operator }) => key === NODE_NAME_FIELD && operator === "In");
  return named?.values?.length === 1 ? named.values[0] : undefined;
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
  accounting: NodeAccounting = NO_DATA_PLANE,
): PodReading {
  const { spec = {} } = pod;
  const { request, problems } = podRequest(pod, resources);
  const facts: PodFacts = {
    key: podKey(pod),
    nodeName: spec.nodeName || undefined,
    terminal: isTerminal(pod),
    request,
    unreadable: problems.length > 0,
    guest: accounting.guestOf(pod),
    gated: (spec.schedulingGates?.length ?? 0) > 0,
    selectsVirtualNode: accounting.selectsVirtualNode(pod),
    pinnedNode: pinnedNode(pod),
  };
  return { facts, problems };
}

/** Identifies a pod, also against a later pod of the same name: its UID, or its name when it has none. */
export function podKey({ metadata = {} }: KubernetesPod): string {
  return metadata.uid || `${metadata.namespace ?? ""}/${metadata.name ?? ""}`;
}
