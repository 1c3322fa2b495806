import type { ObjectMeta } from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";

interface Base {
  readonly metadata: ObjectMeta;
}

export interface RoleBinding extends Base {
  readonly roleRef: { readonly apiGroup: string; readonly kind: "Role"; readonly name: string };
  readonly subjects: readonly {
    readonly kind: "ServiceAccount";
    readonly name: string;
    readonly namespace: string;
  }[];
}

export interface PolicyBinding extends Base {
  readonly spec?: { readonly policyName?: string; readonly validationActions?: readonly string[] };
}

export interface TokenRequest extends Base {
  readonly apiVersion: "authentication.k8s.io/v1";
  readonly kind: "TokenRequest";
  readonly spec: { readonly expirationSeconds: number };
  readonly status?: { readonly token: string; readonly expirationTimestamp: string };
}

const RBAC = { group: "rbac.authorization.k8s.io", version: "v1", isNamespaced: true } as const;
const ADMISSION = { group: "admissionregistration.k8s.io", version: "v1", isNamespaced: false } as const;

export const ROLES: Resource<Base> = { ...RBAC, kind: "Role", plural: "roles" };
export const ROLE_BINDINGS: Resource<RoleBinding> = { ...RBAC, kind: "RoleBinding", plural: "rolebindings" };

export const POLICIES: Resource<Base> = {
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
};
export const POLICY_BINDINGS: Resource<PolicyBinding> = {
  ...ADMISSION,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
};

/** Asked for below a service account. */
export const TOKENS: Resource<TokenRequest> = {
  group: "",
  version: "v1",
  kind: "TokenRequest",
  plural: "serviceaccounts",
  isNamespaced: true,
};
