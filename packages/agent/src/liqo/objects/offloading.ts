import type { KubernetesObject, ObjectMeta } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";
import type { ResourceList } from "./authentication.ts";
import type { LiqoCondition } from "./core.ts";

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values?: readonly string[];
}

interface NamespaceOffloadingSpec {
  readonly namespaceMappingStrategy?: "EnforceSameName" | "DefaultName" | "SelectedName";
  readonly remoteNamespaceName?: string;
  readonly podOffloadingStrategy?: "Local" | "Remote" | "LocalAndRemote";
  readonly clusterSelector?: {
    readonly nodeSelectorTerms: readonly {
      readonly matchExpressions?: readonly NodeSelectorRequirement[];
    }[];
  };
}

interface NamespaceOffloadingStatus {
  readonly remoteNamespaceName?: string;
  readonly offloadingPhase?:
    | "Ready"
    | "NoClusterSelected"
    | "InProgress"
    | "SomeFailed"
    | "AllFailed"
    | "Terminating";
  readonly observedGeneration?: number;
  /** By Liqo's ID of each provider. */
  readonly remoteNamespacesConditions?: Readonly<
    Record<string, readonly LiqoCondition<"OffloadingRequired" | "Ready", "True" | "False">[]>
  >;
}

/** Lets pods of its namespace run on virtual nodes. */
export type NamespaceOffloading = KubernetesObject<NamespaceOffloadingSpec, NamespaceOffloadingStatus>;

/** Liqo takes no other name. */
export const NAMESPACE_OFFLOADING_NAME = "offloading";

export const NAMESPACE_OFFLOADINGS: Resource<NamespaceOffloading> = {
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "NamespaceOffloading",
  plural: "namespaceoffloadings",
  isNamespaced: true,
};

/** Maps namespaces of this cluster to those at one provider, and is named after it; Liqo's replicator copies it there. */
export const NAMESPACE_MAPS: Resource<{ readonly metadata: ObjectMeta }> = {
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "NamespaceMap",
  plural: "namespacemaps",
  isNamespaced: true,
};

interface QuotaSpec {
  /** The verified user of a slice's pods: see the label creator-user. */
  readonly user: string;
  readonly limitsEnforcement?: "None" | "Soft" | "Hard";
  readonly resources: ResourceList;
  readonly cordoned?: boolean;
}

/** On the provider: what a slice may use at most. */
export type Quota = KubernetesObject<QuotaSpec, never>;

export const QUOTAS: Resource<Quota> = {
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "Quota",
  plural: "quotas",
  isNamespaced: true,
};

interface ShadowPodStatus {
  readonly phase: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
}

/** On the provider: makes a pod for another cluster, and again when the pod is deleted. */
export type ShadowPod = KubernetesObject<{ readonly pod?: object }, ShadowPodStatus>;

export const SHADOW_PODS: Resource<ShadowPod> = {
  group: "offloading.liqo.io",
  version: "v1beta1",
  kind: "ShadowPod",
  plural: "shadowpods",
  isNamespaced: true,
};

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
