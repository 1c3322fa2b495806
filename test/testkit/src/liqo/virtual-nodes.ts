import {
  IDENTITIES,
  LIQO_ANNOTATION,
  LIQO_LABEL,
  RESOURCE_SLICES,
  type ResourceList,
  type ResourceSlice,
  VIRTUAL_NODES,
  type VirtualNode,
} from "@resource-broker/agent/liqo";
import { compareQuantities, parseQuantity } from "@resource-broker/base";
import type { ObjectName } from "@resource-broker/kube";
import type { LiqoSite, LiqoState } from "./liqo-state.ts";
import { WHOLE_NODES, WHOLE_PODS, type WholeNode, type WholePod } from "./plain-kinds.ts";
import { conditionOf } from "./provide-slice.ts";
import type { SliceAt } from "./replicate-slice.ts";
import { addFinalizer, change, dropFinalizer, ensure, ownedBy, remove } from "./writes.ts";

const FINALIZER = "virtualnode-controller.liqo.io/finalizer";
const KEEPS_PODS_AWAY = { key: "virtual-node.liqo.io/not-allowed", value: "true", effect: "NoExecute" };

const READY = {
  status: "True",
  reason: "KubeletReady",
  message: "The Liqo Virtual Kubelet is posting ready status",
};
/** Liqo falls silent with the provider's API server; it is Kubernetes that says so of the node, a while later. */
const SILENT = {
  status: "Unknown",
  reason: "NodeStatusUnknown",
  message: "Kubelet stopped posting node status.",
};
const NOT_READY = { status: "False", reason: "KubeletNotReady", message: "The remote cluster is not ready" };

/** An accepted slice gets its Identity and, where it asks for one, its VirtualNode, which grows and shrinks with it. */
export async function makeVirtualNode(liqo: LiqoState, at: SliceAt): Promise<void> {
  const { consumer, provider, name } = at;
  const slice = await consumer.client.find(RESOURCE_SLICES, name);
  if (slice === undefined || !isLetIn(slice)) return;
  await ensureIdentity(at, slice);
  if (!wantsVirtualNode(slice) || !liqo.behaviours.of(name.name).makesVirtualNode) return;
  const virtual = await ensure(consumer.client, VIRTUAL_NODES, virtualNodeObject(provider, slice));
  const hard = slice.status?.resources ?? {};
  if (JSON.stringify(virtual.spec.resourceQuota?.hard) === JSON.stringify(hard)) return;
  await change(consumer.client, VIRTUAL_NODES, { name, body: { spec: { resourceQuota: { hard } } } });
}

function isLetIn({ metadata, status }: ResourceSlice): boolean {
  const isStaying = metadata.deletionTimestamp === undefined;
  return isStaying && conditionOf(status, "Authentication")?.status === "Accepted";
}

function virtualNodeObject(provider: LiqoSite, slice: ResourceSlice): VirtualNode {
  const { name, namespace = "" } = slice.metadata;
  const labels = { [LIQO_LABEL.remoteCluster]: provider.id };
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: {
      name,
      namespace,
      labels: { ...labels, [LIQO_LABEL.resourceSlice]: name },
      ...ownedBy(slice, RESOURCE_SLICES),
    },
    spec: {
      clusterID: provider.id,
      createNode: true,
      kubeconfigSecretRef: { name: `kubeconfig-resourceslice-${name}` },
      labels,
      resourceQuota: { hard: slice.status?.resources ?? {} },
    },
  };
}

function wantsVirtualNode({ metadata, status }: ResourceSlice): boolean {
  const annotation = metadata.annotations?.[LIQO_ANNOTATION.createVirtualNode] ?? "";
  const isGranted = conditionOf(status, "Resources")?.status === "Accepted";
  return isGranted && annotation !== "" && annotation.toLowerCase() !== "false";
}

async function ensureIdentity({ consumer, provider, name }: SliceAt, slice: ResourceSlice): Promise<void> {
  const identity = await ensure(consumer.client, IDENTITIES, {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Identity",
    metadata: {
      name: `resourceslice-${name.name}`,
      namespace: name.namespace,
      labels: { [LIQO_LABEL.remoteCluster]: provider.id, [LIQO_LABEL.resourceSlice]: name.name },
      ...ownedBy(slice, RESOURCE_SLICES),
    },
    spec: { clusterID: provider.id, type: "ResourceSlice", authParams: slice.status?.authParams ?? {} },
  });
  if (identity.status?.kubeconfigSecretRef !== undefined) return;
  const body = { status: { kubeconfigSecretRef: { name: `kubeconfig-resourceslice-${name.name}` } } };
  const options = { subresource: "status" } as const;
  await change(consumer.client, IDENTITIES, { name: identity.metadata, body, options });
}

/** The Node of a VirtualNode comes, follows and goes with it. */
export async function runVirtualNode(
  liqo: LiqoState,
  site: LiqoSite,
  name: Required<ObjectName>,
): Promise<void> {
  const virtual = await site.client.find(VIRTUAL_NODES, name);
  if (virtual === undefined) return;
  if (virtual.metadata.deletionTimestamp !== undefined) return endVirtualNode(liqo, site, virtual);
  await addFinalizer(site.client, VIRTUAL_NODES, { object: virtual, finalizer: FINALIZER });
  await writeConditions(liqo, site, virtual);
  const { node: wanted } = liqo.behaviours.of(name.name);
  if (wanted === "Absent" || virtual.spec.createNode === false) return;
  const node = await ensure(site.client, WHOLE_NODES, nodeObject(virtual));
  await writeNodeStatus(liqo, site, { virtual, node });
}

/** "Running" says only that a Deployment object is there. */
async function writeConditions(liqo: LiqoState, site: LiqoSite, virtual: VirtualNode): Promise<void> {
  if (virtual.status?.conditions !== undefined) return;
  const running = { status: "Running", lastTransitionTime: liqo.now() } as const;
  const conditions = [
    { type: "VirtualKubelet", ...running },
    { type: "Node", ...running },
  ];
  const options = { subresource: "status" } as const;
  const edit = { name: virtual.metadata, body: { status: { conditions } }, options };
  await change(site.client, VIRTUAL_NODES, edit);
}

function nodeObject({ metadata, spec }: VirtualNode): WholeNode {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: metadata.name,
      labels: {
        "kubernetes.io/hostname": metadata.name,
        "kubernetes.io/role": "agent",
        [LIQO_LABEL.type]: "virtual-node",
        [LIQO_LABEL.remoteCluster]: spec.clusterID ?? "",
        ...spec.labels,
      },
    },
    spec: { taints: [KEEPS_PODS_AWAY] },
  };
}

async function writeNodeStatus(
  liqo: LiqoState,
  site: LiqoSite,
  { virtual, node }: { readonly virtual: VirtualNode; readonly node: WholeNode },
): Promise<void> {
  const behaviour = liqo.behaviours.of(node.metadata.name);
  const up = liqo.isReachable(virtual.spec.clusterID ?? "") ? READY : SILENT;
  const state = behaviour.node === "Ready" ? up : NOT_READY;
  const hard = behaviour.allocatable(virtual.spec.resourceQuota?.hard ?? {});
  if (isUpToDate(node, { ready: state.status, hard })) return;
  const ready = {
    type: "Ready",
    ...state,
    lastHeartbeatTime: liqo.now(),
    lastTransitionTime: liqo.now(),
  };
  await change(site.client, WHOLE_NODES, {
    name: { name: node.metadata.name },
    body: { status: { capacity: hard, allocatable: hard, conditions: [ready] } },
    options: { subresource: "status" },
  });
}

function isUpToDate(
  { status }: WholeNode,
  { ready, hard }: { readonly ready: string; readonly hard: ResourceList },
): boolean {
  const readyStatus = status?.conditions?.find(({ type }) => type === "Ready")?.status;
  return readyStatus === ready && isSameAmounts(status?.allocatable ?? {}, hard);
}

/** API servers write a Node's amounts in their own way: 1.5Gi comes back as 1536Mi. */
function isSameAmounts(a: ResourceList, b: ResourceList): boolean {
  return (
    Object.keys(a).length === Object.keys(b).length &&
    Object.entries(a).every(([name, amount]) => {
      const [left, right] = [parseQuantity(String(amount)), parseQuantity(String(b[name]))];
      return left.ok && right.ok && compareQuantities(left.quantity, right.quantity) === 0;
    })
  );
}

/** Cordoned, drained for as long as it takes, then gone: one pod that stays keeps all of it. */
async function endVirtualNode(liqo: LiqoState, site: LiqoSite, virtual: VirtualNode): Promise<void> {
  const { name } = virtual.metadata;
  const node = await site.client.find(WHOLE_NODES, { name });
  if (node !== undefined) {
    if (node.spec?.unschedulable !== true)
      await change(site.client, WHOLE_NODES, { name: { name }, body: { spec: { unschedulable: true } } });
    const pods = await podsOn(site, name);
    for (const pod of pods) await remove(site.client, WHOLE_PODS, pod.metadata);
    if ((await podsOn(site, name)).length > 0) return;
    await remove(site.client, WHOLE_NODES, { name });
  }
  if (liqo.behaviours.of(name).stuck.includes("virtual-node")) return;
  await dropFinalizer(site.client, VIRTUAL_NODES, { object: virtual, finalizer: FINALIZER });
}

/** Liqo drains the pods that it has marked as its own. */
async function podsOn({ client }: LiqoSite, node: string): Promise<WholePod[]> {
  const found: WholePod[] = [];
  const query = {
    fieldSelector: `spec.nodeName=${node}`,
    labelSelector: `${LIQO_LABEL.shadowPod}=true`,
  };
  await client.list(WHOLE_PODS, query, (pod) => void found.push(pod));
  return found;
}
