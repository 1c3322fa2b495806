import type { KubernetesObject } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";

export type ForeignClusterConditionStatus =
  | "None"
  | "Pending"
  | "Established"
  | "Error"
  | "Ready"
  | "NotReady"
  | "SomeNotReady";

type ForeignClusterConditionType =
  | "APIServerStatus"
  | "NetworkConnectionStatus"
  | "NetworkGatewayServerStatus"
  | "NetworkGatewayClientStatus"
  | "NetworkGatewayPresence"
  | "NetworkConfigurationStatus"
  | "AuthIdentityControlPlaneStatus"
  | "AuthTenantStatus"
  | "OffloadingVirtualNodeStatus"
  | "OffloadingNodeStatus";

export type ForeignClusterCondition = LiqoCondition<
  ForeignClusterConditionType,
  ForeignClusterConditionStatus
>;

interface Module {
  readonly enabled: boolean;
  readonly conditions?: readonly ForeignClusterCondition[];
}

interface ForeignClusterStatus {
  readonly observedGeneration?: number;
  readonly role: "Consumer" | "Provider" | "ConsumerAndProvider" | "Unknown";
  readonly modules?: {
    readonly networking: Module;
    readonly authentication: Module;
    readonly offloading: Module;
  };
  readonly apiServerUrl?: string;
  readonly tenantNamespace?: { readonly local?: string; readonly remote?: string };
  readonly conditions?: readonly ForeignClusterCondition[];
}

/** What Liqo knows of another cluster. It is never deleted, so its existence does not mean that the clusters are peered. */
export type ForeignCluster = KubernetesObject<{ readonly clusterID: string }, ForeignClusterStatus>;

export const FOREIGN_CLUSTERS: Resource<ForeignCluster> = {
  group: "core.liqo.io",
  version: "v1beta1",
  kind: "ForeignCluster",
  plural: "foreignclusters",
  isNamespaced: false,
};

/** Liqo's conditions are not Kubernetes conditions: each kind has its own status values. */
export interface LiqoCondition<Type extends string, Status extends string> {
  readonly type: Type;
  readonly status: Status;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}
