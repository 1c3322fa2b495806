import {
  FOREIGN_CLUSTERS,
  type ForeignCluster,
  IDENTITIES,
  LIQO_LABEL,
  TENANTS,
  tenantNamespaceOf,
  VIRTUAL_NODES,
} from "@resource-broker/agent/liqo";
import { type Resource, SECRETS } from "@resource-broker/kube";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { controlPlaneIdentityName, controlPlaneSecret } from "./peer-objects.ts";

/** `liqoctl force unpeer` writes it; only an API server that answers makes Liqo doubt it. */
export const UNREACHABLE_ANNOTATION = "liqo.io/foreign-cluster-permanently-unreachable";

type Status = NonNullable<ForeignCluster["status"]>;
type Condition = NonNullable<Status["conditions"]>[number];

/** The other cluster is marked as permanently unreachable: nothing waits for it any more. */
export async function isUnreachableForever(
  liqo: LiqoState,
  site: LiqoSite,
  otherId: string,
): Promise<boolean> {
  if (liqo.isReachable(otherId)) return false;
  const foreign = await site.client.find(FOREIGN_CLUSTERS, { name: otherId });
  return foreign?.metadata.annotations?.[UNREACHABLE_ANNOTATION] === "true";
}

/** What a cluster says of another, from the objects they share. It is made once and stays. */
export async function writeForeignCluster(
  liqo: LiqoState,
  site: LiqoSite,
  { otherId, isNetworked }: { readonly otherId: string; readonly isNetworked: boolean },
): Promise<void> {
  // Before the look: what somebody else says meanwhile is newer.
  const known = await site.client.find(FOREIGN_CLUSTERS, { name: otherId });
  const seen = await observe(liqo, site, otherId);
  if (known === undefined && !seen.isProvider && !seen.isConsumer) return;
  const foreign =
    known ??
    (await site.client.create(FOREIGN_CLUSTERS, {
      apiVersion: "core.liqo.io/v1beta1",
      kind: "ForeignCluster",
      metadata: { name: otherId, labels: { [LIQO_LABEL.remoteCluster]: otherId } },
      spec: { clusterID: otherId },
    }));
  const status = statusOf(liqo, { otherId, isNetworked, ...seen, before: foreign.status });
  if (JSON.stringify(status) === JSON.stringify(foreign.status)) return;
  await site.client.update(FOREIGN_CLUSTERS, { ...foreign, status }, { subresource: "status" });
}

interface Seen {
  readonly hasIdentity: boolean;
  /** An Identity, its Secret or a virtual node is enough. */
  readonly isProvider: boolean;
  readonly isConsumer: boolean;
  readonly virtualNodes: number;
}

async function observe(liqo: LiqoState, { client, id }: LiqoSite, otherId: string): Promise<Seen> {
  const namespace = tenantNamespaceOf(otherId);
  const identity = { name: controlPlaneIdentityName(otherId), namespace };
  const isThere = async (resource: Resource<unknown>, name: string): Promise<boolean> =>
    (await client.find(resource, { name, namespace })) !== undefined;
  const { count } = await client.list(VIRTUAL_NODES, { namespace }, () => undefined);
  const hasIdentity = await isThere(IDENTITIES, identity.name);
  const isDeletionMissed = liqo.missedDeletions.has(`${id} ${otherId}`);
  const hasSecret = isDeletionMissed || (await isThere(SECRETS, controlPlaneSecret(otherId).name));
  return {
    hasIdentity,
    isProvider: hasIdentity || hasSecret || count > 0,
    isConsumer: await isThere(TENANTS, otherId),
    virtualNodes: count,
  };
}

/** All that Liqo's check of the other API server writes, whatever else has changed. */
export async function writeReachability(liqo: LiqoState, site: LiqoSite, otherId: string): Promise<void> {
  const foreign = await site.client.find(FOREIGN_CLUSTERS, { name: otherId });
  if (foreign?.status === undefined || foreign.status.conditions?.length !== 1) return;
  const condition = conditionBuilder(liqo, foreign.status);
  const conditions = [condition("APIServerStatus", liqo.isReachable(otherId) ? "Established" : "Error")];
  if (JSON.stringify(conditions) === JSON.stringify(foreign.status.conditions)) return;
  const status = { ...foreign.status, conditions };
  await site.client.update(FOREIGN_CLUSTERS, { ...foreign, status }, { subresource: "status" });
}

interface Facts extends Seen {
  readonly otherId: string;
  readonly isNetworked: boolean;
  readonly before: Status | undefined;
}

function statusOf(liqo: LiqoState, facts: Facts): Status {
  const { otherId, isProvider, isConsumer } = facts;
  const network = liqo.isReachable(otherId) ? "Established" : "Error";
  const condition = conditionBuilder(liqo, facts.before);
  return {
    role: roleOf(isConsumer, isProvider),
    modules: modulesOf(facts, { condition, network }),
    tenantNamespace: isProvider || isConsumer ? { local: tenantNamespaceOf(otherId) } : {},
    ...(isProvider ? { apiServerUrl: liqo.site(otherId)?.client.server ?? "" } : {}),
    conditions: isProvider ? [condition("APIServerStatus", network)] : [],
  };
}

type ConditionBuilder = (type: Condition["type"], status: Condition["status"]) => Condition;

/** Conditions with the time at which they became what they are. */
function conditionBuilder(liqo: LiqoState, before: Status | undefined): ConditionBuilder {
  const modules = Object.values(before?.modules ?? {});
  const was = [...(before?.conditions ?? []), ...modules.flatMap(({ conditions = [] }) => conditions)];
  return (type, status) => {
    const same = was.find((condition) => condition.type === type && condition.status === status);
    return { type, status, lastTransitionTime: same?.lastTransitionTime ?? liqo.now() };
  };
}

function modulesOf(
  { isNetworked, hasIdentity, isConsumer, virtualNodes }: Facts,
  { condition, network }: { readonly condition: ConditionBuilder; readonly network: "Established" | "Error" },
): NonNullable<Status["modules"]> {
  const up = network === "Established" ? "Ready" : "NotReady";
  const module = (...conditions: Condition[]) => ({ enabled: conditions.length > 0, conditions });
  return {
    networking: isNetworked ? module(condition("NetworkConnectionStatus", network)) : module(),
    authentication: module(
      ...(isConsumer ? [condition("AuthTenantStatus", "Ready")] : []),
      ...(hasIdentity ? [condition("AuthIdentityControlPlaneStatus", "Ready")] : []),
    ),
    offloading: virtualNodes > 0 ? module(condition("OffloadingVirtualNodeStatus", up)) : module(),
  };
}

function roleOf(isConsumer: boolean, isProvider: boolean): Status["role"] {
  if (isConsumer && isProvider) return "ConsumerAndProvider";
  if (isConsumer) return "Consumer";
  return isProvider ? "Provider" : "Unknown";
}
