import type { KubernetesObject, ObjectMeta } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";
import type { LiqoCondition } from "./foreign-cluster.ts";

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
