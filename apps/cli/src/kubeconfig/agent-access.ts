import type { Secret, ServiceAccount } from "@resource-broker/kube";
import type { RoleBinding } from "./resources.ts";

/** What deploy/rbac/broker-agents.yaml calls it. */
export const AGENTS_ROLE = "resource-broker-agents";
const LABELS = {
  "app.kubernetes.io/managed-by": "brokerctl",
  "app.kubernetes.io/part-of": "resource-broker",
};

/** The agent of one cluster in the broker's namespace. deploy/admission/agent-writes.yaml knows it by this name. */
export interface Agent {
  readonly clusterId: string;
  readonly namespace: string;
  /** Of the ServiceAccount and of its RoleBinding. */
  readonly name: string;
  /** Who it is to the API server. */
  readonly user: string;
}

export function agentOf(clusterId: string, namespace: string): Agent {
  const name = `agent-${clusterId}`;
  return { clusterId, namespace, name, user: `system:serviceaccount:${namespace}:${name}` };
}

export function serviceAccountOf({ name, namespace }: Agent): ServiceAccount {
  // No pod of this cluster runs as it.
  return { metadata: { name, namespace, labels: LABELS }, automountServiceAccountToken: false };
}

export function roleBindingOf({ name, namespace }: Agent): RoleBinding {
  return {
    metadata: { name, namespace, labels: LABELS },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: AGENTS_ROLE },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

export function tokenSecretName({ name }: Agent): string {
  return `${name}-token`;
}

/** A controller of Kubernetes fills the token in. */
export function tokenSecretOf(agent: Agent): Secret {
  const { name, namespace } = agent;
  return {
    metadata: {
      name: tokenSecretName(agent),
      namespace,
      labels: LABELS,
      annotations: { "kubernetes.io/service-account.name": name },
    },
    type: "kubernetes.io/service-account-token",
  };
}
