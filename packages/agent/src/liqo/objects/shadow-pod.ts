import type { KubernetesObject } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";

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
