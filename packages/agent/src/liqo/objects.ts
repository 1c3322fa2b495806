import {
  compareQuantities,
  type KubernetesObject,
  type ObjectMeta,
  parseQuantity,
  RESOURCE,
} from "@resource-broker/base";
import type { Resource } from "@resource-broker/kube";

/** Labels that Liqo writes or reads. Cluster IDs in them are Liqo's, never the broker's. */
export const LIQO_LABEL = {
  /** On a slice: the replicator copies it to the cluster in `destination`. */
  replication: "liqo.io/replication",
  destination: "liqo.io/remoteID",
  /** On what the replicator wrote here for another cluster. */
  replicated: "liqo.io/replicated",
  origin: "liqo.io/originID",
  /** The other cluster of the object: on slices, virtual nodes and their Nodes, tenant namespaces. */
  remoteCluster: "liqo.io/remote-cluster-id",
  tenantNamespace: "liqo.io/tenant-namespace",
  /** `virtual-node` on the Node of a VirtualNode. */
  type: "liqo.io/type",
  /** On the VirtualNode that Liqo made for a slice: the slice's name. */
  resourceSlice: "liqo.io/resourceslice-name",
  /** On pods that run for another cluster. */
  managedBy: "liqo.io/managed-by",
  podOrigin: "offloading.liqo.io/origin",
  podNode: "offloading.liqo.io/nodename",
  /** Set by the provider's webhook; equals `Quota.spec.user`. */
  creatorUser: "liqo.io/creator-user",
  /** `true` on a pod of this cluster that runs elsewhere. */
  shadowPod: "liqo.io/shadowPod",
} as const;

export const LIQO_ANNOTATION = {
  createVirtualNode: "liqo.io/create-virtual-node",
  /** On a slice: `true` keeps new pods away from it. */
  cordon: "liqo.io/cordon",
} as const;

export const VIRTUAL_NODE_TYPE = "virtual-node";

/** Slices of this class are granted by the provider's agent, and by nobody else. */
export const SLICE_CLASS = "resource-broker";
/** On everything this agent made in Liqo's kinds: the id of the reservation. */
export const RESERVATION_LABEL = "rear.fluidos.eu/reservation";
/** On a slice: when its reservation ends, RFC 3339; absent when it does not end by itself. */
export const EXPIRES_AT_ANNOTATION = "rear.fluidos.eu/expires-at";

/** Where Liqo keeps what it shares with one other cluster. */
export function tenantNamespaceOf(liqoId: string): string {
  return `liqo-tenant-${liqoId}`;
}

/** Liqo's conditions are not Kubernetes conditions: each kind has its own status values. */
interface LiqoCondition<Type extends string, Status extends string> {
  readonly type: Type;
  readonly status: Status;
  readonly lastTransitionTime?: string;
  readonly reason?: string;
  readonly message?: string;
}

/** Amounts by Kubernetes' name of the resource. */
export type ResourceList = Readonly<Record<string, string | number>>;

function liqoKind<T>(
  group: "core" | "authentication" | "offloading",
  kind: string,
  plural: string,
): Resource<T> {
  return { group: `${group}.liqo.io`, version: "v1beta1", kind, plural, isNamespaced: group !== "core" };
}

/** The fields that are read; Liqo has more modules and condition types. */
interface ForeignClusterStatus {
  readonly role: "Consumer" | "Provider" | "ConsumerAndProvider" | "Unknown";
  readonly modules?: {
    readonly authentication: {
      readonly conditions?: readonly LiqoCondition<"AuthIdentityControlPlaneStatus", "Ready" | "NotReady">[];
    };
  };
  readonly tenantNamespace?: { readonly local?: string; readonly remote?: string };
  readonly conditions?: readonly LiqoCondition<"APIServerStatus", "Established" | "Error">[];
}

/** What Liqo knows of another cluster. It is never deleted, so its existence does not mean that the clusters are peered. */
export type ForeignCluster = KubernetesObject<{ readonly clusterID: string }, ForeignClusterStatus>;
export const FOREIGN_CLUSTERS = liqoKind<ForeignCluster>("core", "ForeignCluster", "foreignclusters");

export type ResourceSliceCondition = LiqoCondition<"Authentication" | "Resources", "Accepted" | "Denied">;

interface ResourceSliceSpec {
  /** Filled in by Liqo on the replica. */
  readonly consumerClusterID?: string;
  readonly providerClusterID?: string;
  readonly resources?: ResourceList;
  readonly class?: string;
  /** PEM in base64; written by the consumer's Liqo. */
  readonly csr?: string;
}

interface ResourceSliceStatus {
  readonly conditions?: readonly ResourceSliceCondition[];
  /** What the provider granted. */
  readonly resources?: ResourceList;
}

/** A request for resources of the provider. Kubernetes has a kind of the same name in another group. */
export type ResourceSlice = KubernetesObject<ResourceSliceSpec, ResourceSliceStatus>;
export const RESOURCE_SLICES = liqoKind<ResourceSlice>("authentication", "ResourceSlice", "resourceslices");

/** With the full name: `kubectl delete resourceslice` reaches Kubernetes' own kind. */
export function deleteCommand({ metadata }: ResourceSlice): string {
  const { plural, group } = RESOURCE_SLICES;
  return `kubectl delete ${plural}.${group} -n ${metadata.namespace ?? ""} ${metadata.name}`;
}

/** How a consumer's Liqo reaches the provider. Certificates are PEM in base64. */
export interface AuthParams {
  readonly apiServer?: string;
  readonly ca?: string;
  readonly signedCRT?: string;
  readonly proxyURL?: string;
  /** On EKS: keys of a user at AWS. */
  readonly awsConfig?: object;
}

/** On the consumer: the identity at a provider; one for Liqo itself and one per slice. */
export type Identity = KubernetesObject<
  {
    /** The provider's. */
    readonly clusterID?: string;
    readonly type?: "ControlPlane" | "ResourceSlice";
    readonly authParams?: AuthParams;
    readonly namespace?: string;
  },
  never
>;
export const IDENTITIES = liqoKind<Identity>("authentication", "Identity", "identities");

/** On the provider: a consumer that was accepted. */
export type Tenant = KubernetesObject<
  {
    readonly clusterID?: string;
    readonly tenantCondition?: "Active" | "Cordoned" | "Drained";
    readonly authzPolicy?: "KeysExchange" | "TolerateNoHandshake";
    readonly publicKey?: string;
    readonly csr?: string;
    readonly signature?: string;
  },
  { readonly authParams?: AuthParams; readonly tenantNamespace?: string }
>;
export const TENANTS = liqoKind<Tenant>("authentication", "Tenant", "tenants");

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt";
  readonly values?: readonly string[];
}

interface NodeSelector {
  readonly nodeSelectorTerms?: readonly { readonly matchExpressions?: readonly NodeSelectorRequirement[] }[];
}

interface NamespaceOffloadingSpec {
  readonly namespaceMappingStrategy?: "EnforceSameName" | "DefaultName" | "SelectedName";
  readonly podOffloadingStrategy?: "Local" | "Remote" | "LocalAndRemote";
  readonly clusterSelector?: NodeSelector;
}

interface NamespaceOffloadingStatus {
  readonly offloadingPhase?: string;
  readonly observedGeneration?: number;
  /** By Liqo's ID of each provider. */
  readonly remoteNamespacesConditions?: Readonly<
    Record<string, readonly LiqoCondition<"OffloadingRequired" | "Ready", "True" | "False">[]>
  >;
}

/** Lets pods of its namespace run on virtual nodes. */
export type NamespaceOffloading = KubernetesObject<NamespaceOffloadingSpec, NamespaceOffloadingStatus>;
/** Liqo takes no other name. */
export const NAMESPACE_OFFLOADING_NAME = "offloading";
export const NAMESPACE_OFFLOADINGS = liqoKind<NamespaceOffloading>(
  "offloading",
  "NamespaceOffloading",
  "namespaceoffloadings",
);

/** Maps namespaces of this cluster to those at one provider, and is named after it; Liqo's replicator copies it there. */
export const NAMESPACE_MAPS = liqoKind<{ readonly metadata: ObjectMeta }>(
  "offloading",
  "NamespaceMap",
  "namespacemaps",
);

interface QuotaSpec {
  /** The verified user of a slice's pods: see the label creator-user. */
  readonly user: string;
  readonly limitsEnforcement?: "None" | "Soft" | "Hard";
  readonly resources: ResourceList;
  readonly cordoned?: boolean;
}

/** On the provider: what a slice may use at most. */
export type Quota = KubernetesObject<QuotaSpec, never>;
export const QUOTAS = liqoKind<Quota>("offloading", "Quota", "quotas");

/** On the provider: makes a pod for another cluster, and again when the pod is deleted. */
export type ShadowPod = KubernetesObject<{ readonly pod?: object }, { readonly phase: string }>;
export const SHADOW_PODS = liqoKind<ShadowPod>("offloading", "ShadowPod", "shadowpods");

/** One per slice; makes the Node of the same name. Its status says no more than that its Deployment exists. */
export type VirtualNode = KubernetesObject<{ readonly clusterID?: string }, object>;
export const VIRTUAL_NODES = liqoKind<VirtualNode>("offloading", "VirtualNode", "virtualnodes");

/** The fields of a Node that the data plane needs; the accounting's own type has fewer. */
export interface ReservationNode {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly allocatable?: ResourceList;
    readonly conditions?: readonly LiqoCondition<string, string>[];
  };
}

/** A real node may have the name of a reservation by chance; it is left alone. */
export function isVirtual({ metadata }: ReservationNode): boolean {
  return metadata.labels?.[LIQO_LABEL.type] === VIRTUAL_NODE_TYPE;
}

/** The fields of a Pod that draining and events need. */
export interface ReservationPod {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly nodeName?: string;
    readonly tolerations?: readonly { readonly key?: string }[];
    readonly affinity?: {
      readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector };
    };
  };
  readonly status?: { readonly phase?: string };
}

const CORE = { group: "", version: "v1" };
export const RESERVATION_NODES: Resource<ReservationNode> = {
  ...CORE,
  kind: "Node",
  plural: "nodes",
  isNamespaced: false,
};
export const RESERVATION_PODS: Resource<ReservationPod> = {
  ...CORE,
  kind: "Pod",
  plural: "pods",
  isNamespaced: true,
};

/** No pod runs without it: a slice has some even where none is reserved. */
export const SCRATCH = RESOURCE.storage;

/** Differences between desired and found amounts, in words. Less is accepted for names in `unreserved`. */
export function differences(
  wanted: ResourceList,
  found: ResourceList = {},
  unreserved: readonly string[] = [],
): string[] {
  const wrong = Object.entries(wanted).flatMap(([name, amount]) => {
    const there = found[name];
    if (there !== undefined && compared(amount, there) === 0) return [];
    if (there !== undefined && unreserved.includes(name) && isLess(there, amount)) return [];
    return [`${name} is ${there ?? "missing"} instead of ${amount}`];
  });
  const unwanted = Object.entries(found)
    .filter(([name, amount]) => !Object.hasOwn(wanted, name) && compared(amount, "0") !== 0)
    .map(([name, amount]) => `${name} is ${amount}, and none is reserved`);
  return [...wrong, ...unwanted];
}

/** True when both name the same resources with the same amounts, however they are written. */
export function isSameList(a: ResourceList, b: ResourceList | undefined): boolean {
  return b !== undefined && Object.keys(a).length === Object.keys(b).length && differences(a, b).length === 0;
}

export function isNothing(quantity: string): boolean {
  return compared(quantity, "0") === 0;
}

function isLess(amount: string | number, than: string | number): boolean {
  return (compared("0", amount) ?? 0) < 0 && (compared(amount, than) ?? 0) < 0;
}

/** Undefined: one of them is not a quantity. */
function compared(a: string | number, b: string | number): number | undefined {
  const [left, right] = [parseQuantity(String(a)), parseQuantity(String(b))];
  return left.ok && right.ok ? compareQuantities(left.quantity, right.quantity) : undefined;
}
