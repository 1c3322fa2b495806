import { Fault } from "@resource-broker/base";
import { type KubeClient, NAMESPACES, type Resource, type Selection } from "@resource-broker/kube";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { RESOURCE_SLICES, type ResourceSlice } from "../objects/authentication.ts";
import { FOREIGN_CLUSTERS, type ForeignCluster } from "../objects/core.ts";
import { LIQO_LABEL, RESERVATION_LABEL, tenantNamespaceOf } from "../objects/labels.ts";
import {
  NAMESPACE_OFFLOADING_NAME,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  VIRTUAL_NODES,
  type VirtualNode,
} from "../objects/offloading.ts";
import type { ObservedOffload } from "./plan-offload.ts";
import {
  awaitsNodeOf,
  RESERVATION_NODES,
  RESERVATION_PODS,
  type ReservationNode,
  type ReservationPod,
} from "./reservation-nodes.ts";

/** What the data plane reads in the cluster. Kinds that are not served count as empty. */
export interface ClusterReads {
  readonly foreignCluster: (liqoId: string) => Promise<ForeignCluster | undefined>;
  readonly slice: (liqoId: string, name: string) => Promise<ResourceSlice | undefined>;
  /** Slices towards this provider, whoever created them. */
  readonly slicesTo: (liqoId: string) => Promise<ResourceSlice[]>;
  /** Replicas from that cluster, which is a consumer here. */
  readonly slicesFrom: (liqoId: string) => Promise<ResourceSlice[]>;
  /** Slices with this agent's label; of one reservation, or all. */
  readonly labelledSlices: (id?: string) => Promise<ResourceSlice[]>;
  /** VirtualNodes that Liqo created for slices of this name. */
  readonly virtualNodes: (slice: string) => Promise<VirtualNode[]>;
  readonly node: (name: string) => Promise<ReservationNode | undefined>;
  readonly podsOn: (node: string) => Promise<ReservationPod[]>;
  /** Pods of a namespace on virtual nodes of the provider, and those that wait for one. */
  readonly podsFor: (liqoId: string, namespace: string) => Promise<ReservationPod[]>;
  readonly offloadings: () => Promise<NamespaceOffloading[]>;
  readonly offload: (namespace: string) => Promise<ObservedOffload>;
}

export function clusterReads(client: Pick<KubeClient, "find" | "list">): ClusterReads {
  const listed = async <T>(
    resource: Resource<T>,
    selection: Selection,
    isSelected: (object: T) => boolean,
  ): Promise<T[]> => {
    const found: T[] = [];
    const keep = (object: T): void => {
      if (isSelected(object)) found.push(object);
    };
    try {
      await client.list(resource, selection, keep);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "not-found") throw error;
    }
    return found;
  };
  const isReplica = ({ metadata }: ResourceSlice): boolean =>
    metadata.labels?.[LIQO_LABEL.replicated] === "true";

  return {
    foreignCluster: async (liqoId) => {
      const labelSelector = `${LIQO_LABEL.remoteCluster}=${liqoId}`;
      const found = await listed(
        FOREIGN_CLUSTERS,
        { labelSelector },
        ({ spec }) => spec.clusterID === liqoId,
      );
      return found[0];
    },
    slice: (liqoId, name) => client.find(RESOURCE_SLICES, { name, namespace: tenantNamespaceOf(liqoId) }),
    slicesTo: (liqoId) =>
      listed(RESOURCE_SLICES, { namespace: tenantNamespaceOf(liqoId) }, (slice) => !isReplica(slice)),
    slicesFrom: (liqoId) => listed(RESOURCE_SLICES, { namespace: tenantNamespaceOf(liqoId) }, isReplica),
    labelledSlices: (id) => {
      const labelSelector = id === undefined ? RESERVATION_LABEL : `${RESERVATION_LABEL}=${id}`;
      return listed(RESOURCE_SLICES, { labelSelector }, (slice) => {
        const label = slice.metadata.labels?.[RESERVATION_LABEL];
        return !isReplica(slice) && (id === undefined ? label !== undefined : label === id);
      });
    },
    virtualNodes: (slice) => {
      const labelSelector = `${LIQO_LABEL.resourceSlice}=${slice}`;
      return listed(
        VIRTUAL_NODES,
        { labelSelector },
        ({ metadata }) => metadata.labels?.[LIQO_LABEL.resourceSlice] === slice,
      );
    },
    node: (name) => client.find(RESERVATION_NODES, { name }),
    podsOn: (node) =>
      listed(
        RESERVATION_PODS,
        { fieldSelector: `spec.nodeName=${node}` },
        ({ spec }) => spec?.nodeName === node,
      ),
    podsFor: async (liqoId, namespace) => {
      const labelSelector = `${LIQO_LABEL.remoteCluster}=${liqoId}`;
      const virtual = await listed(VIRTUAL_NODES, { labelSelector }, ({ spec }) => spec.clusterID === liqoId);
      const nodes = new Set(virtual.map(({ metadata }) => metadata.name));
      return listed(
        RESERVATION_PODS,
        { namespace },
        (pod) => nodes.has(pod.spec?.nodeName ?? "") || awaitsNodeOf(liqoId, pod),
      );
    },
    offloadings: () => {
      const labelSelector = `${MANAGED_BY_LABEL}=${MANAGER}`;
      return listed(
        NAMESPACE_OFFLOADINGS,
        { labelSelector },
        ({ metadata }) => metadata.labels?.[MANAGED_BY_LABEL] === MANAGER,
      );
    },
    offload: async (namespace) => {
      const name = { name: NAMESPACE_OFFLOADING_NAME, namespace };
      const [found, offloading] = await Promise.all([
        client.find(NAMESPACES, { name: namespace }),
        client.find(NAMESPACE_OFFLOADINGS, name),
      ]);
      return { namespace, isThere: found !== undefined, offloading };
    },
  };
}
