import type { KubernetesNodeRequirement, KubernetesNodeSelectorTerm, KubernetesPod } from "./kubernetes.ts";
import { NODE_TYPE_LABEL, REMOTE_CLUSTER_LABEL, VIRTUAL_NODE_TYPE } from "./liqo-labels.ts";

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
