import { Fault, toFault } from "@resource-broker/base";
import {
  type KubeClient,
  type KubeConfig,
  NAMESPACES,
  type Resource,
  ROLE_BINDINGS,
  SELF_SUBJECT_ACCESS_REVIEWS,
  SELF_SUBJECT_REVIEWS,
} from "@resource-broker/kube";
import { isFault } from "../../faults.ts";
import { MANAGED_BY_LABEL, MANAGER } from "../../manifests/labels.ts";
import { identityAt } from "../identity.ts";
import type { FoundKubeconfig } from "../liqoctl/kubeconfigs.ts";
import { LIQO_LABEL, type Tenant, tenantNamespaceOf, TENANTS } from "../objects.ts";
import type { JobResult } from "./peering-job-runner.ts";
import type { Pair } from "./steps.ts";

/**
 * `gone`: the provider has no Tenant of this cluster, or has drained it; `terminating`: the Tenant is being
 * deleted. Every other case counts as accepted.
 */
export type TenantStatus = "admitted" | "terminating" | "gone" | "unknown";

type Remote = Pick<KubeClient, "list" | "close">;
type Local = Pick<KubeClient, "list" | "create">;

/** Asks the provider for the Tenant; a failed or forbidden call gives `unknown`. */
export async function tenantStatusAt(namespace: string, remote: Remote): Promise<TenantStatus> {
  let status: TenantStatus = "gone";
  const look = ({ metadata, spec }: Tenant): void => {
    if (metadata.deletionTimestamp !== undefined) status = "terminating";
    else if (spec.tenantCondition !== "Drained") status = "admitted";
  };
  try {
    await remote.list(TENANTS, { namespace }, look).finally(() => remote.close());
    return status;
  } catch {
    return "unknown";
  }
}

export interface PeeringChecksDeps {
  readonly client: Local;
  /** Opens a client for another cluster. */
  readonly connect: (access: KubeConfig) => Remote;
  readonly liqoNamespace: string;
}

/** What is checked at both clusters before liqoctl changes anything. */
export async function peeringProblem(
  pair: Pair,
  provider: FoundKubeconfig,
  deps: PeeringChecksDeps,
): Promise<JobResult> {
  const { client, connect, liqoNamespace } = deps;
  const { clusterId, ownLiqoId } = pair;
  const here = await identityAt(client, liqoNamespace);
  if (here === undefined) {
    const message = `Liqo is not installed in namespace ${liqoNamespace} of this cluster: install it, or set --liqo-mode=off`;
    return { reason: "LiqoMissing", message };
  }
  const there = await remoteIdentity(pair, provider, deps);
  if (!there.ok) return there.obstacle;
  if (ownLiqoId !== undefined && ownLiqoId !== here.clusterId) {
    const message = `this cluster's ID in Liqo is ${here.clusterId}, but the broker has ${ownLiqoId}: wait for the next advertisement`;
    return { reason: "IdentityMismatch", message };
  }
  // Peers in Liqo need the same minor version. An unknown version is accepted.
  const [own, other] = [minorOf(here.version), minorOf(there.version)];
  if (own !== undefined && other !== undefined && own !== other) {
    const message = `this cluster has Liqo ${here.version} and ${clusterId} has ${there.version}: they peer only when both are of one minor version`;
    return { reason: "VersionMismatch", message };
  }
  // liqoctl would reuse a Tenant that is being deleted, and the new peering would lose it a moment later.
  const namespace = tenantNamespaceOf(here.clusterId);
  if ((await tenantStatusAt(namespace, connect(provider.access))) !== "terminating") return undefined;
  const message = `${clusterId} is still ending an earlier peering: Tenant ${here.clusterId} in its ${namespace}`;
  return { reason: "TenantLeaving", message };
}

/** liqoctl uses whatever cluster the file points to, and the file may have been replaced. */
export async function remoteIdentity(
  pair: Pair,
  { access, path }: FoundKubeconfig,
  { connect, liqoNamespace }: PeeringChecksDeps,
): Promise<{ ok: true; version: string } | { ok: false; obstacle: NonNullable<JobResult> }> {
  try {
    const remote = connect(access);
    const there = await identityAt(remote, liqoNamespace).finally(() => remote.close());
    if (there?.clusterId === pair.liqoId) return { ok: true, version: there.version };
    const found = there === undefined ? "no Liqo" : `Liqo's cluster ${there.clusterId}`;
    const message = `the kubeconfig of ${pair.clusterId} leads to ${found} instead of ${pair.liqoId}: replace it`;
    return { ok: false, obstacle: { reason: "IdentityMismatch", message } };
  } catch (error) {
    const { code, message } = toFault(error);
    const reason = code === "invalid" ? "KubeconfigRefused" : "ProviderUnreachable";
    return { ok: false, obstacle: { reason, message: `with ${path}: ${message}` } };
  }
}

function minorOf(version: string): string | undefined {
  return /^v?(\d+\.\d+)(?:\.|$)/.exec(version)?.[1];
}

/** The ClusterRole for liqoctl in a tenant namespace: deploy/rbac/agent-liqo.yaml. The charts use the same name. */
export const TENANT_ROLE = "resource-broker-agent-liqo-tenant";
const RBAC = "rbac.authorization.k8s.io";
const POD_SECURITY = "pod-security.kubernetes.io";

/**
 * liqoctl runs with the agent's account and writes Secrets in the provider's tenant namespace. To avoid rights
 * on Secrets elsewhere, the agent creates that namespace as liqoctl would, and binds the role only there.
 */
export async function ensureTenantAccess(client: Local, liqoId: string): Promise<JobResult> {
  const namespace = tenantNamespaceOf(liqoId);
  try {
    if (await mayListSecrets(client, namespace)) return undefined;
    const others = (await tenantNamespaces(client, liqoId)).filter((name) => name !== namespace);
    if (others.length > 0) {
      // A second namespace for the same cluster would break liqoctl for everybody.
      const message = `Liqo's tenant namespace of ${liqoId} is ${others.join(", ")}; the agent works with ${namespace} only: unpeer and delete it`;
      return { reason: "TenantNamespaceMissing", message };
    }
    await ensureThere(client, NAMESPACES, tenantNamespace(liqoId));
    const user = await ownName(client);
    const isNew = await ensureThere(client, ROLE_BINDINGS, roleBinding(namespace, user));
    // The API server may need a moment to apply a new binding.
    if (isNew || (await mayListSecrets(client, namespace))) return undefined;
    // An old binding, for example of an agent with another account.
    const what = `RoleBinding ${TENANT_ROLE} in ${namespace} exists and does not grant ${user} its rights`;
    const remedy = `kubectl delete rolebinding -n ${namespace} ${TENANT_ROLE}, and the agent creates it again`;
    return { reason: "Forbidden", message: `${what}: ${remedy}; or apply deploy/rbac/agent-liqo.yaml` };
  } catch (error) {
    if (!isFault(error, "forbidden")) throw error;
    const remedy = `apply deploy/rbac/agent-liqo.yaml, or bind ${TENANT_ROLE} to the agent in ${namespace}`;
    return { reason: "Forbidden", message: `${error.message}: ${remedy}` };
  }
}

async function mayListSecrets(client: Local, namespace: string): Promise<boolean> {
  const resourceAttributes = { verb: "list", group: "", resource: "secrets", namespace };
  const { status } = await client.create(SELF_SUBJECT_ACCESS_REVIEWS, { spec: { resourceAttributes } });
  return status?.allowed === true;
}

async function tenantNamespaces(client: Local, liqoId: string): Promise<string[]> {
  const labelSelector = `${LIQO_LABEL.remoteCluster}=${liqoId},${LIQO_LABEL.tenantNamespace}`;
  const names: string[] = [];
  await client.list(NAMESPACES, { labelSelector }, ({ metadata }) => void names.push(metadata.name));
  return names;
}

/** False: it existed already. */
async function ensureThere<T>(client: Local, resource: Resource<T>, object: T): Promise<boolean> {
  try {
    await client.create(resource, object, { fieldManager: MANAGER });
    return true;
  } catch (error) {
    if (!isFault(error, "already-exists")) throw error;
    return false;
  }
}

async function ownName(client: Local): Promise<string> {
  const { status } = await client.create(SELF_SUBJECT_REVIEWS, {});
  const name = status?.userInfo?.username;
  if (name === undefined) throw new Fault("invalid", "the API server does not return the agent's user name");
  return name;
}

/** As liqoctl makes it. */
export function tenantNamespace(liqoId: string, more: Readonly<Record<string, string>> = {}) {
  const labels = {
    [LIQO_LABEL.remoteCluster]: liqoId,
    [LIQO_LABEL.tenantNamespace]: "true",
    [`${POD_SECURITY}/enforce`]: "privileged",
    [`${POD_SECURITY}/audit`]: "privileged",
    [`${POD_SECURITY}/warn`]: "privileged",
    ...more,
  };
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: tenantNamespaceOf(liqoId), labels } };
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
