import type { KubernetesObject } from "@resource-broker/contract";
import type { Resource } from "@resource-broker/kube";
import type { AuthParams } from "./resource-slice.ts";

interface IdentitySpec {
  /** The provider's. */
  readonly clusterID?: string;
  readonly type?: "ControlPlane" | "ResourceSlice";
  readonly authParams?: AuthParams;
  readonly namespace?: string;
}

interface IdentityStatus {
  readonly kubeconfigSecretRef?: { readonly name?: string };
}

/** On the consumer: the identity at a provider; one for Liqo itself and one per slice. */
export type Identity = KubernetesObject<IdentitySpec, IdentityStatus>;

export const IDENTITIES: Resource<Identity> = {
  group: "authentication.liqo.io",
  version: "v1beta1",
  kind: "Identity",
  plural: "identities",
  isNamespaced: true,
};
