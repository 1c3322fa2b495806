import type { ObjectMeta } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";
import { LIQO_LABEL, VIRTUAL_NODE_TYPE } from "../objects/labels.ts";
import type { ResourceList } from "../objects/resource-slice.ts";

interface NodeCondition {
  readonly type: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** A Node as far as it tells of a loan; the accounting's own type holds less. */
export interface LoanNode {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly NodeCondition[];
  };
}

export const LOAN_NODES: Resource<LoanNode> = {
  group: "",
  version: "v1",
  kind: "Node",
  plural: "nodes",
  isNamespaced: false,
};

/** A pod as far as draining needs it. */
export interface LoanPod {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly nodeName?: string };
}

export const LOAN_PODS: Resource<LoanPod> = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  isNamespaced: true,
};

/** On a Node that this agent has cordoned, and may uncordon when its reservation lives again; a person's cordon stays. */
export const RELEASING_ANNOTATION = "rear.fluidos.eu/releasing";

/** A real node may by chance have the name of a reservation: it is none of our business. */
export function isVirtual({ metadata }: LoanNode): boolean {
  return metadata.labels?.[LIQO_LABEL.type] === VIRTUAL_NODE_TYPE;
}

/** Pods of a DaemonSet come back as long as the node is there, and go with it. */
export function isDrainable({ metadata }: LoanPod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") !== true;
}
