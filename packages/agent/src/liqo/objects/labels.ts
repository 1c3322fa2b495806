/** Labels that Liqo writes or reads. Cluster IDs in them are Liqo's, never the broker's. */
export const LIQO_LABEL = {
  /** On a slice: the replicator copies it to the cluster in `destination`. */
  replication: "liqo.io/replication",
  destination: "liqo.io/remoteID",
  /** On what the replicator wrote here for another cluster. */
  replicated: "liqo.io/replicated",
  origin: "liqo.io/originID",
  /** The other cluster of the object: on slices, virtual nodes and their Nodes, tenant namespaces. */
  remoteCluster: "liqo.io/remote-cluster-id",
  tenantNamespace: "liqo.io/tenant-namespace",
  /** `virtual-node` on the Node of a VirtualNode. */
  type: "liqo.io/type",
  /** On the VirtualNode that Liqo made for a slice: the slice's name. */
  resourceSlice: "liqo.io/resourceslice-name",
  /** On pods that run for another cluster. */
  managedBy: "liqo.io/managed-by",
  podOrigin: "offloading.liqo.io/origin",
  podNode: "offloading.liqo.io/nodename",
  /** Set by the provider's webhook; equals `Quota.spec.user`. */
  creatorUser: "liqo.io/creator-user",
  /** `true` on a pod of this cluster that runs elsewhere. */
  shadowPod: "liqo.io/shadowPod",
} as const;

export const LIQO_ANNOTATION = {
  createVirtualNode: "liqo.io/create-virtual-node",
  /** On a slice: `true` keeps new pods away from it. */
  cordon: "liqo.io/cordon",
} as const;

export const VIRTUAL_NODE_TYPE = "virtual-node";

/** Slices of this class are granted by the provider's agent, and by nobody else. */
export const SLICE_CLASS = "resource-broker";
/** On everything this agent made in Liqo's kinds: the id of the reservation. */
export const RESERVATION_LABEL = "rear.fluidos.eu/reservation";
/** On a slice: when its reservation ends, RFC 3339; absent when it does not end by itself. */
export const EXPIRES_AT_ANNOTATION = "rear.fluidos.eu/expires-at";

/** Where Liqo keeps what it shares with one other cluster. */
export function tenantNamespaceOf(liqoId: string): string {
  return `liqo-tenant-${liqoId}`;
}
