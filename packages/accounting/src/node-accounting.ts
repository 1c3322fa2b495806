import type { KubernetesNode, KubernetesPod } from "@resource-broker/base";

/** For whom a pod of another cluster runs here. */
export interface GuestFacts {
  readonly reservationId: string;
  /** The ID in the data plane of the cluster that the pod comes from. */
  readonly origin: string;
}

/** How the accounting recognizes the nodes and pods of a data plane. */
export interface NodeAccounting {
  /** True: the node represents borrowed capacity, which is never lent again. */
  readonly isVirtualNode: (node: KubernetesNode) => boolean;
  /** True: the pod can only run on a virtual node. */
  readonly selectsVirtualNode: (pod: KubernetesPod) => boolean;
  /** Undefined also when the labels contradict each other: the pod then counts as the cluster's own load. */
  readonly guestOf: (pod: KubernetesPod) => GuestFacts | undefined;
  /** All labels that these functions read. */
  readonly labels: { readonly node: readonly string[]; readonly pod: readonly string[] };
}

/** Without a data plane there are neither virtual nodes nor guest pods. */
export const NO_DATA_PLANE: NodeAccounting = {
  isVirtualNode: () => false,
  selectsVirtualNode: () => false,
  guestOf: () => undefined,
  labels: { node: [], pod: [] },
};
