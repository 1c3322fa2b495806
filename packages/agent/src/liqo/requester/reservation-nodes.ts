import type { ObjectMeta } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";
import type { ResourceList } from "../objects/authentication.ts";
import { LIQO_LABEL, VIRTUAL_NODE_TYPE } from "../objects/labels.ts";
import type { NodeSelectorRequirement } from "../objects/offloading.ts";

interface NodeCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** The fields of a Node that the data plane needs; the accounting's own type has fewer. */
export interface ReservationNode {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly NodeCondition[];
  };
}

export const RESERVATION_NODES: Resource<ReservationNode> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  isNamespaced: false,
};

/** The fields of a Pod that draining needs. */
export interface ReservationPod {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly nodeName?: string;
    readonly tolerations?: readonly { readonly key?: string }[];
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: {
          readonly nodeSelectorTerms?: readonly {
            readonly matchExpressions?: readonly NodeSelectorRequirement[];
          }[];
        };
      };
    };
  };
}

export const RESERVATION_PODS: Resource<ReservationPod> = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  isNamespaced: true,
};

/** Marks a Node that this agent has cordoned, so that it may uncordon it again; a person's cordon stays. */
export const RELEASING_ANNOTATION = "rear.fluidos.eu/releasing";

/** A real node may have the name of a reservation by chance; it is left alone. */
export function isVirtual({ metadata }: ReservationNode): boolean {
  return metadata.labels?.[LIQO_LABEL.type] === VIRTUAL_NODE_TYPE;
}

/** Pods of a DaemonSet are created again while the node exists, and end with it. */
export function isDrainable({ metadata }: ReservationPod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") !== true;
}

/** The toleration that Liqo's webhook adds to pods that may run on virtual nodes; it stays. */
const TOLERATION = "virtual-node.liqo.io/not-allowed";

/** True for a pod that waits for a node of that provider and has a controller that would create it again without Liqo's affinity. */
export function awaitsNodeOf(liqoId: string, { metadata, spec = {} }: ReservationPod): boolean {
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
