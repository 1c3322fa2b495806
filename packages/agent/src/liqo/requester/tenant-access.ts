import { Fault } from "@resource-broker/base";
import {
  type KubeClient,
  NAMESPACES,
  type Resource,
  ROLE_BINDINGS,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_REVIEWS,
} from "@resource-broker/kube";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { LIQO_LABEL, tenantNamespaceOf } from "../objects/labels.ts";
import type { JobResult } from "./peering-job-runner.ts";

type Client = Pick<KubeClient, "list" | "create">;

/** The ClusterRole for liqoctl in a tenant namespace: deploy/rbac/agent-liqo.yaml. The charts use the same name. */
export const TENANT_ROLE = "resource-broker-agent-liqo-tenant";
const RBAC = "rbac.authorization.k8s.io";
const POD_SECURITY = "pod-security.kubernetes.io";

/**
 * liqoctl runs with the agent's account and writes Secrets in the provider's tenant namespace. To avoid rights
 * on Secrets elsewhere, the agent creates that namespace as liqoctl would, and binds the role only there.
 */
export async function ensureTenantAccess(client: Client, liqoId: string): Promise<JobResult> {
  const namespace = tenantNamespaceOf(liqoId);
  try {
    if (await mayListSecrets(client, namespace)) return undefined;
    const others = (await tenantNamespaces(client, liqoId)).filter((name) => name !== namespace);
    if (others.length > 0) return otherNamespace(liqoId, others);
    await ensureThere(client, NAMESPACES, tenantNamespace(liqoId));
    const user = await ownName(client);
    const isNew = await ensureThere(client, ROLE_BINDINGS, roleBinding(namespace, user));
    // The API server may need a moment to apply a new binding.
    return isNew || (await mayListSecrets(client, namespace)) ? undefined : otherBinding(namespace, user);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "forbidden") throw error;
    const remedy = `apply deploy/rbac/agent-liqo.yaml, or bind ${TENANT_ROLE} to the agent in ${namespace}`;
    return { reason: "Forbidden", message: `${error.message}: ${remedy}` };
  }
}

async function mayListSecrets(client: Client, namespace: string): Promise<boolean> {
  const resourceAttributes = { verb: "list", group: "", resource: "secrets", namespace };
  const { status } = await client.create(SELF_SUBJECT_ACCESS_REVIEWS, { spec: { resourceAttributes } });
  return status?.allowed === true;
}

async function tenantNamespaces(client: Client, liqoId: string): Promise<string[]> {
  const labelSelector = `${LIQO_LABEL.remoteCluster}=${liqoId},${LIQO_LABEL.tenantNamespace}`;
  const names: string[] = [];
  await client.list(NAMESPACES, { labelSelector }, ({ metadata }) => void names.push(metadata.name));
  return names;
}

/** A second namespace for the same cluster would break liqoctl for everybody. */
function otherNamespace(liqoId: string, names: readonly string[]): JobResult {
  const wanted = tenantNamespaceOf(liqoId);
  const message = `Liqo's tenant namespace of ${liqoId} is ${names.join(", ")}; the agent works with ${wanted} only: unpeer and delete it`;
  return { reason: "TenantNamespaceMissing", message };
}

/** An old binding, for example of an agent with another account. */
function otherBinding(namespace: string, user: string): JobResult {
  const what = `RoleBinding ${TENANT_ROLE} in ${namespace} exists and does not grant ${user} its rights`;
  const remedy = `kubectl delete rolebinding -n ${namespace} ${TENANT_ROLE}, and the agent creates it again`;
  return { reason: "Forbidden", message: `${what}: ${remedy}; or apply deploy/rbac/agent-liqo.yaml` };
}

/** False: it existed already. */
async function ensureThere<T>(client: Client, resource: Resource<T>, object: T): Promise<boolean> {
  try {
    await client.create(resource, object, { fieldManager: MANAGER });
    return true;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "already-exists") throw error;
    return false;
  }
}

async function ownName(client: Client): Promise<string> {
  const { status } = await client.create(SELF_SUBJECT_REVIEWS, {});
  const name = status?.userInfo?.username;
  if (name === undefined) throw new Fault("invalid", "the API server does not return the agent's user name");
  return name;
}

/** As liqoctl makes it. */
function tenantNamespace(liqoId: string) {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: tenantNamespaceOf(liqoId),
      labels: {
        [LIQO_LABEL.remoteCluster]: liqoId,
        [LIQO_LABEL.tenantNamespace]: "true",
        [`${POD_SECURITY}/enforce`]: "privileged",
        [`${POD_SECURITY}/audit`]: "privileged",
        [`${POD_SECURITY}/warn`]: "privileged",
      },
    },
  };
}

function roleBinding(namespace: string, user: string) {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: { name: TENANT_ROLE, namespace, labels: { [MANAGED_BY_LABEL]: MANAGER } },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: TENANT_ROLE },
    subjects: [{ apiGroup: RBAC, kind: "User", name: user }],
  };
}
