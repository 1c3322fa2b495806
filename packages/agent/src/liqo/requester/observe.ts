import type { Clock } from "@resource-broker/base";
import { type KubeClient, NAMESPACES, type Resource, type Selection } from "@resource-broker/kube";
import { ignoring } from "../../faults.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import {
  FOREIGN_CLUSTERS,
  type ForeignCluster,
  isVirtual,
  LIQO_LABEL,
  NAMESPACE_OFFLOADING_NAME,
  NAMESPACE_OFFLOADINGS,
  type NamespaceOffloading,
  RESERVATION_LABEL,
  RESERVATION_NODES,
  RESERVATION_PODS,
  type ReservationPod,
  RESOURCE_SLICES,
  type ResourceSlice,
  tenantNamespaceOf,
  VIRTUAL_NODES,
  type VirtualNode,
} from "../objects.ts";
import type { DesiredVirtualNode } from "./desired-virtual-node.ts";
import type { TenantStatus } from "./peering-checks.ts";
import type { JobState, PeeringJobRunner } from "./peering-job-runner.ts";
import type { PeeringMarkers } from "./peering-marker.ts";
import type { ObservedVirtualNode } from "./plan-establish.ts";
import { claimantsOf, closedProvider, type ObservedOffload, planOffload } from "./plan-offload.ts";
import { isPeered, isTerminating, type PeeringState } from "./plan-peering.ts";
import type { ReservationObjects } from "./plan-teardown.ts";
import type { Pair } from "./steps.ts";

/** Pods of a DaemonSet are created again while the node exists, and end with it. */
function isDrainable({ metadata }: ReservationPod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") !== true;
}

/** The toleration that Liqo's webhook adds to pods that may run on virtual nodes; it stays. */
const TOLERATION = "virtual-node.liqo.io/not-allowed";

/** True for a pod that waits for a node of that provider and has a controller that would create it again without Liqo's affinity. */
function awaitsNodeOf(liqoId: string, { metadata, spec = {} }: ReservationPod): boolean {
  const { nodeName = "", tolerations = [] } = spec;
  if (nodeName !== "" || !tolerations.some(({ key }) => key === TOLERATION)) return false;
  const isOwned = metadata.ownerReferences?.some(({ controller }) => controller === true) ?? false;
  return isOwned && clustersOf(spec).includes(liqoId);
}

function clustersOf({ affinity }: NonNullable<ReservationPod["spec"]>): readonly string[] {
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return (required?.nodeSelectorTerms ?? [])
    .flatMap(({ matchExpressions = [] }) => matchExpressions)
    .flatMap(({ key, values = [] }) => (key === LIQO_LABEL.remoteCluster ? values : []));
}

export type ClusterReads = ReturnType<typeof clusterReads>;

/** What the data plane reads in the cluster. Kinds that are not served count as empty. */
export function clusterReads(client: Pick<KubeClient, "find" | "list">) {
  const listed = async <T>(
    resource: Resource<T>,
    selection: Selection,
    isSelected: (object: T) => boolean,
  ): Promise<T[]> => {
    const found: T[] = [];
    await client.list(resource, selection, (object) => void found.push(object)).catch(ignoring("not-found"));
    // Servers select, too; this also covers a fake that does not.
    return found.filter(isSelected);
  };
  const isReplica = ({ metadata }: ResourceSlice): boolean =>
    metadata.labels?.[LIQO_LABEL.replicated] === "true";
  const remoteCluster = (liqoId: string): Selection => ({
    labelSelector: `${LIQO_LABEL.remoteCluster}=${liqoId}`,
  });

  return {
    foreignCluster: async (liqoId: string): Promise<ForeignCluster | undefined> => {
      const isIt = ({ spec }: ForeignCluster): boolean => spec.clusterID === liqoId;
      return (await listed(FOREIGN_CLUSTERS, remoteCluster(liqoId), isIt))[0];
    },
    slice: (liqoId: string, name: string) =>
      client.find(RESOURCE_SLICES, { name, namespace: tenantNamespaceOf(liqoId) }),
    /** Slices towards this provider, whoever created them. */
    slicesTo: (liqoId: string) =>
      listed(RESOURCE_SLICES, { namespace: tenantNamespaceOf(liqoId) }, (slice) => !isReplica(slice)),
    /** Replicas from that cluster, which is a consumer here. */
    slicesFrom: (liqoId: string) =>
      listed(RESOURCE_SLICES, { namespace: tenantNamespaceOf(liqoId) }, isReplica),
    /** Slices with this agent's label; of one reservation, or all. */
    labelledSlices: (id?: string) => {
      const labelSelector = id === undefined ? RESERVATION_LABEL : `${RESERVATION_LABEL}=${id}`;
      return listed(RESOURCE_SLICES, { labelSelector }, (slice) => {
        const label = slice.metadata.labels?.[RESERVATION_LABEL];
        return !isReplica(slice) && (id === undefined ? label !== undefined : label === id);
      });
    },
    /** VirtualNodes that Liqo created for slices of this name. */
    virtualNodes: (slice: string) =>
      listed(
        VIRTUAL_NODES,
        { labelSelector: `${LIQO_LABEL.resourceSlice}=${slice}` },
        ({ metadata }) => metadata.labels?.[LIQO_LABEL.resourceSlice] === slice,
      ),
    node: (name: string) => client.find(RESERVATION_NODES, { name }),
    podsOn: (node: string) =>
      listed(
        RESERVATION_PODS,
        { fieldSelector: `spec.nodeName=${node}` },
        ({ spec }) => spec?.nodeName === node,
      ),
    /** Pods of a namespace on virtual nodes of the provider, and those that wait for one. */
    podsFor: async (liqoId: string, namespace: string): Promise<ReservationPod[]> => {
      const isOf = ({ spec }: VirtualNode): boolean => spec.clusterID === liqoId;
      const virtual = await listed(VIRTUAL_NODES, remoteCluster(liqoId), isOf);
      const nodes = new Set(virtual.map(({ metadata }) => metadata.name));
      return listed(
        RESERVATION_PODS,
        { namespace },
        (pod) => nodes.has(pod.spec?.nodeName ?? "") || awaitsNodeOf(liqoId, pod),
      );
    },
    offloadings: () =>
      listed(
        NAMESPACE_OFFLOADINGS,
        { labelSelector: `${MANAGED_BY_LABEL}=${MANAGER}` },
        ({ metadata }) => metadata.labels?.[MANAGED_BY_LABEL] === MANAGER,
      ),
    offload: async (namespace: string): Promise<ObservedOffload> => {
      const [found, offloading] = await Promise.all([
        client.find(NAMESPACES, { name: namespace }),
        client.find(NAMESPACE_OFFLOADINGS, { name: NAMESPACE_OFFLOADING_NAME, namespace }),
      ]);
      return { namespace, isThere: found !== undefined, offloading };
    },
  };
}

interface ObserverDeps {
  readonly reads: ClusterReads;
  readonly markers: PeeringMarkers;
  readonly runner: PeeringJobRunner;
  readonly jobs: {
    /** Whether the provider still accepts this cluster as a tenant, as far as can be found out. */
    readonly tenantStatus: (pair: Pair, remoteNamespace: string | undefined) => Promise<TenantStatus>;
    /** What a person can do where it does not. */
    readonly tenantRemedy: (pair: Pair) => string;
    /** What the provider itself says about that; undefined: nothing. */
    readonly refusal: (pair: Pair) => string | undefined;
    /** True when a kubeconfig was replaced since the last attempt with this cluster. */
    readonly hasNewKubeconfig: (clusterId: string) => Promise<boolean>;
  };
  readonly clock: Pick<Clock, "wallMs">;
  /** The claim that keeps the peering with this cluster warm. */
  readonly warmClaim?: ((pair: Pair) => string | undefined) | undefined;
}

/** Reads what the plans of a delivery and of a teardown need. */
export function observer({ reads, markers, runner, jobs, clock, warmClaim }: ObserverDeps) {
  /** After a failure with a kubeconfig that was replaced, there is no backoff. */
  const jobOf = async ({ liqoId, clusterId }: Pair): Promise<JobState> => {
    const job = runner.state(liqoId);
    if (job.kind !== "failed" || job.retryInMs === 0) return job;
    return (await jobs.hasNewKubeconfig(clusterId)) ? { ...job, retryInMs: 0 } : job;
  };

  const virtualNode = async (desired: DesiredVirtualNode): Promise<ObservedVirtualNode> => {
    const { id, liqoId } = desired;
    const [foreignCluster, marker] = await Promise.all([reads.foreignCluster(liqoId), markers.of(liqoId)]);
    const peering = {
      foreignCluster,
      marker,
      markerNamespace: markers.namespace,
      warmClaim: warmClaim?.(desired),
      job: await jobOf(desired),
      tenantStatus: "unknown",
      tenantRemedy: jobs.tenantRemedy(desired),
      refusal: jobs.refusal(desired),
      wallMs: clock.wallMs(),
    } as const;
    // A peering may take minutes: until then only a slice that blocks it is read.
    if (!isPeered(foreignCluster)) {
      return isTerminating(foreignCluster) ? { ...peering, slice: await reads.slice(liqoId, id) } : peering;
    }
    const [slice, virtualNodes, node, offloads] = await Promise.all([
      reads.slice(liqoId, id),
      reads.virtualNodes(id),
      reads.node(id),
      Promise.all((desired.offload?.namespaces ?? []).map(reads.offload)),
    ]);
    // The provider is asked only when everything else is ready.
    const remote = foreignCluster?.status?.tenantNamespace?.remote;
    return {
      ...peering,
      slice,
      virtualNode: virtualNodes.find(({ spec }) => spec.clusterID === liqoId),
      node,
      tenantStatus: node === undefined ? "unknown" : await jobs.tenantStatus(desired, remote),
      offload: planOffload(desired, offloads),
    };
  };

  /** A slice of the same name that someone else made keeps its virtual node. */
  const nodesOf = async (id: string, ours: ReservationObjects["slices"]) => {
    const found = await reads.virtualNodes(id);
    const isOurs = await Promise.all(
      found.map(async ({ metadata, spec }) => {
        if (ours.some((slice) => slice.metadata.namespace === metadata.namespace)) return true;
        return (await reads.slice(spec.clusterID ?? "", id)) === undefined;
      }),
    );
    const virtualNodes = found.filter((_, index) => isOurs[index] === true);
    const isForeign = found.length > virtualNodes.length;
    const node = isForeign ? undefined : await reads.node(id);
    return { virtualNodes, node: node !== undefined && isVirtual(node) ? node : undefined };
  };

  const peeringOf = async (id: string): Promise<PeeringState | undefined> => {
    const marker = (await markers.all()).find(({ claims }) => claims.includes(id));
    if (marker === undefined) return undefined;
    const [slices, slicesFrom, foreignCluster] = await Promise.all([
      reads.slicesTo(marker.liqoId),
      reads.slicesFrom(marker.liqoId),
      reads.foreignCluster(marker.liqoId),
    ]);
    return {
      marker,
      slices: slices.length,
      slicesFrom: slicesFrom.length,
      foreignCluster,
      job: await jobOf(marker),
      wallMs: clock.wallMs(),
    };
  };

  /** Pods of a namespace run on any node of the provider, also on those of other reservations. */
  const podsElsewhere = async (
    id: string,
    offloading: NamespaceOffloading,
  ): Promise<readonly ReservationPod[]> => {
    const liqoId = closedProvider(offloading, id);
    return liqoId === undefined ? [] : await reads.podsFor(liqoId, offloading.metadata.namespace ?? "");
  };

  const objectsOf = async (id: string): Promise<Omit<ReservationObjects, "waitedMs">> => {
    const slices = await reads.labelledSlices(id);
    const [{ virtualNodes, node }, offloadings, peering] = await Promise.all([
      nodesOf(id, slices),
      reads.offloadings(),
      peeringOf(id),
    ]);
    const named = offloadings.filter((offloading) => claimantsOf(offloading).includes(id));
    const [pods, otherPods] = await Promise.all([
      node === undefined ? [] : reads.podsOn(id),
      Promise.all(named.map((offloading) => podsElsewhere(id, offloading))),
    ]);
    const elsewhere = otherPods.flat().filter(({ spec }) => spec?.nodeName !== id);
    const drainable = [...pods, ...elsewhere].filter(isDrainable);
    return { id, slices, virtualNodes, node, pods: drainable, offloadings: named, peering };
  };

  return { virtualNode, objectsOf };
}
