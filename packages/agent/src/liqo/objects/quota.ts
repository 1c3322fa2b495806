import type { KubernetesObject } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";
import type { ResourceList } from "./resource-slice.ts";

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
