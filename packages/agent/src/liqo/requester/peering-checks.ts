import { toFault } from "@resource-broker/base";
import type { KubeClient } from "@resource-broker/kube";
import type { DataPlaneIdentity } from "../../data-plane/data-plane.ts";
import { identityAt } from "../identity/read-identity.ts";
import type { ForeignAccess } from "../liqoctl/foreign-access.ts";
import type { KubeconfigLookup } from "../liqoctl/kubeconfigs.ts";
import { TENANTS, type Tenant } from "../objects/authentication.ts";
import { tenantNamespaceOf } from "../objects/labels.ts";
import type { JobResult } from "./peering-job-runner.ts";

/**
 * `gone`: the provider has no Tenant of this cluster, or has drained it; `terminating`: the Tenant is being
 * deleted. Every other case counts as accepted.
 */
export type TenantStatus = "admitted" | "terminating" | "gone" | "unknown";

/** Asks the provider for the Tenant; a failed or forbidden call gives `unknown`. */
export async function tenantStatusAt(
  namespace: string,
  connect: () => Promise<Pick<KubeClient, "list" | "close">>,
): Promise<TenantStatus> {
  let status: TenantStatus = "gone";
  const look = ({ metadata, spec }: Tenant): void => {
    if (metadata.deletionTimestamp !== undefined) status = "terminating";
    else if (spec.tenantCondition !== "Drained") status = "admitted";
  };
  try {
    const remote = await connect();
    await remote.list(TENANTS, { namespace }, look).finally(() => remote.close());
    return status;
  } catch {
    return "unknown";
  }
}

/** The two clusters of a peering, with their IDs at the broker and in Liqo. */
export interface Pair {
  readonly clusterId: string;
  readonly liqoId: string;
  /** This cluster's ID in Liqo according to the broker; undefined: unknown. */
  readonly ownLiqoId: string | undefined;
}

export type ClusterRef = Pick<Pair, "clusterId" | "liqoId">;
export type ProviderKubeconfig = Extract<KubeconfigLookup, { readonly kind: "found" }>;
type Remote =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly obstacle: NonNullable<JobResult> };

export interface PeeringChecksDeps {
  readonly client: Pick<KubeClient, "list">;
  /** A client for another cluster; `origin` is for messages. */
  readonly connect: (access: ForeignAccess, origin: string) => Promise<Pick<KubeClient, "list" | "close">>;
  readonly liqoNamespace: string;
}

/** What is checked at both clusters before liqoctl changes anything. */
export function peeringChecks({ client, connect, liqoNamespace }: PeeringChecksDeps) {
  /** Checks both clusters before anything is changed. */
  const checkPeering = async (pair: Pair, provider: ProviderKubeconfig): Promise<JobResult> => {
    const here = await identityAt(client, liqoNamespace);
    if (here === undefined) {
      const message = `Liqo is not installed in namespace ${liqoNamespace} of this cluster: install it, or set --liqo-mode=off`;
      return { reason: "LiqoMissing", message };
    }
    const there = await remoteIdentity(pair, provider);
    if (!there.ok) return there.obstacle;
    return (
      ownProblem(pair, here) ??
      versionProblem(pair, here.version, there.version) ??
      tenantTerminating(pair, here, provider)
    );
  };
  /** liqoctl would reuse a Tenant that is being deleted, and the new peering would lose it a moment later. */
  const tenantTerminating = async (
    pair: ClusterRef,
    here: DataPlaneIdentity,
    { access, path }: ProviderKubeconfig,
  ): Promise<JobResult> => {
    const namespace = tenantNamespaceOf(here.clusterId);
    if ((await tenantStatusAt(namespace, () => connect(access, path))) !== "terminating") return undefined;
    const message = `${pair.clusterId} is still ending an earlier peering: Tenant ${here.clusterId} in its ${namespace}`;
    return { reason: "TenantLeaving", message };
  };
  /** liqoctl uses whatever cluster the file points to, and the file may have been replaced. */
  const remoteIdentity = async (pair: ClusterRef, { access, path }: ProviderKubeconfig): Promise<Remote> => {
    try {
      const remote = await connect(access, path);
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
  };

  return { checkPeering, remoteIdentity };
}

function ownProblem({ ownLiqoId }: Pair, { clusterId }: DataPlaneIdentity): JobResult {
  if (ownLiqoId === undefined || ownLiqoId === clusterId) return undefined;
  const message = `this cluster's ID in Liqo is ${clusterId}, but the broker has ${ownLiqoId}: wait for the next advertisement`;
  return { reason: "IdentityMismatch", message };
}

/** Peers in Liqo need the same minor version. An unknown version is accepted. */
function versionProblem(
  { clusterId }: { readonly clusterId: string },
  here: string,
  there: string,
): JobResult {
  const [own, other] = [minorOf(here), minorOf(there)];
  if (own === undefined || other === undefined || own === other) return undefined;
  return {
    reason: "VersionMismatch",
    message: `this cluster has Liqo ${here} and ${clusterId} has ${there}: they peer only when both are of one minor version`,
  };
}

function minorOf(version: string): string | undefined {
  return /^v?(\d+\.\d+)(?:\.|$)/.exec(version)?.[1];
}
