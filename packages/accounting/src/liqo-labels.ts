/** Labels of Liqo that the accounting reads. */
export const NODE_TYPE_LABEL = "liqo.io/type";
export const VIRTUAL_NODE_TYPE = "virtual-node";
/** On a Node only Liqo writes it, and only on virtual ones. */
export const REMOTE_CLUSTER_LABEL = "liqo.io/remote-cluster-id";

export const MANAGED_BY_LABEL = "liqo.io/managed-by";
export const SHADOW_POD = "shadowpod";
export const ORIGIN_LABEL = "offloading.liqo.io/origin";
/** The virtual node the pod came through: named after its slice, which is named after the reservation. */
export const ORIGIN_NODE_LABEL = "offloading.liqo.io/nodename";
/** Set by the provider's webhook, so the guest cannot choose it. */
export const CREATOR_USER_LABEL = "liqo.io/creator-user";

/** All labels of a pod that the accounting looks at. */
export const GUEST_LABELS: readonly string[] = [
  MANAGED_BY_LABEL,
  ORIGIN_LABEL,
  ORIGIN_NODE_LABEL,
  CREATOR_USER_LABEL,
];
