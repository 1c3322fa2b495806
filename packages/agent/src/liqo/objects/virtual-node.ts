import type { KubernetesObject } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";
import type { LiqoCondition } from "./foreign-cluster.ts";
import type { ResourceList } from "./resource-slice.ts";

interface VirtualNodeSpec {
  readonly clusterID?: string;
  readonly createNode?: boolean;
  readonly kubeconfigSecretRef?: { readonly name?: string };
  readonly resourceQuota?: { readonly hard?: ResourceList };
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

type VirtualNodeCondition = LiqoCondition<
  "VirtualKubelet" | "Node",
  "None" | "Running" | "Creating" | "Draining" | "Deleting"
>;

interface VirtualNodeStatus {
  /** Running says no more than that the Deployment object exists. */
  readonly conditions?: readonly VirtualNodeCondition[];
}

/** One per slice; makes the Node of the same name. */
export type VirtualNode = KubernetesObject<VirtualNodeSpec, VirtualNodeStatus>;

export const VIRTUAL_NODES: Resource<VirtualNode> = {
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "VirtualNode",
  plural: "virtualnodes",
  isNamespaced: true,
};
