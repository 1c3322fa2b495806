import { type GuestFacts, type NodeAccounting, requiredTerms } from "@resource-broker/accounting";
import type { KubernetesNodeRequirement, KubernetesPod } from "@resource-broker/base";
import { LIQO_LABEL, VIRTUAL_NODE_TYPE } from "./objects.ts";

const SHADOW_POD = "shadowpod";

/** Recognizes Liqo's virtual nodes and the pods that it runs for other clusters, by their labels. */
export const liqoAccounting: NodeAccounting = {
  isVirtualNode: ({ metadata }) => metadata?.labels?.[LIQO_LABEL.type] === VIRTUAL_NODE_TYPE,
  selectsVirtualNode,
  guestOf,
  labels: {
    node: [LIQO_LABEL.type],
    pod: [LIQO_LABEL.managedBy, LIQO_LABEL.podOrigin, LIQO_LABEL.podNode, LIQO_LABEL.creatorUser],
  },
};

/**
 * A toleration of the virtual node's taint is no sign that a pod can only run there: Liqo adds one to every pod of a
 * namespace that may also run locally. For the same reason every alternative of the affinity must ask for a virtual
 * node, and a preference does not count. On a Node only Liqo writes the label of the remote cluster.
 */
function selectsVirtualNode(pod: KubernetesPod): boolean {
  const selector = pod.spec?.nodeSelector;
  if (
    selector?.[LIQO_LABEL.type] === VIRTUAL_NODE_TYPE ||
    selector?.[LIQO_LABEL.remoteCluster] !== undefined
  ) {
    return true;
  }
  const terms = requiredTerms(pod);
  return (
    terms.length > 0 && terms.every((term) => term.matchExpressions?.some(onlyVirtualNodesMatch) ?? false)
  );
}

function onlyVirtualNodesMatch({ key, operator, values = [] }: KubernetesNodeRequirement): boolean {
  if (key !== LIQO_LABEL.type && key !== LIQO_LABEL.remoteCluster) return false;
  if (operator === "Exists") return true;
  if (operator !== "In") return false;
  return key === LIQO_LABEL.remoteCluster || values.every((value) => value === VIRTUAL_NODE_TYPE);
}

/** Liqo's webhook sets the creator to `<slice>-<hex digest>`, so a pod that claims another slice is not trusted. */
function guestOf({ metadata }: KubernetesPod): GuestFacts | undefined {
  const labels = metadata?.labels;
  if (labels?.[LIQO_LABEL.managedBy] !== SHADOW_POD) return undefined;
  // The virtual node is named after its slice, and that after the reservation.
  const reservationId = labels[LIQO_LABEL.podNode] ?? "";
  const origin = labels[LIQO_LABEL.podOrigin] ?? "";
  const creatorUser = labels[LIQO_LABEL.creatorUser] ?? "";
  if (reservationId === "" || origin === "" || !isCreatorOf(reservationId, creatorUser)) return undefined;
  return { reservationId, origin };
}

function isCreatorOf(sliceName: string, creatorUser: string): boolean {
  return (
    creatorUser.startsWith(`${sliceName}-`) && /^[0-9a-f]+$/.test(creatorUser.slice(sliceName.length + 1))
  );
}
