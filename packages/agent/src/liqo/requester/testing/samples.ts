import type { ReservationDTO } from "@resource-broker/contract";
import type { KubeConfig } from "@resource-broker/kube";
import type { DeliverySpec, Offload } from "../../../data-plane/data-plane.ts";
import { aReservation } from "../../../testing/samples.ts";
import {
  type ForeignCluster,
  LIQO_LABEL,
  type ReservationNode,
  type ReservationPod,
  type ResourceList,
  type ResourceSlice,
  type VirtualNode,
} from "../../objects.ts";
import { type DesiredVirtualNode, readDesired, sliceManifest } from "../desired-virtual-node.ts";
import { markerManifest, type PeeringMarker, readMarker } from "../peering-marker.ts";
import type { ObservedVirtualNode } from "../plan-establish.ts";

export const NOW = Date.parse("2026-07-01T10:00:00Z");
export const LIQO_ID = "calm-paris";

/** paris, which Liqo calls calm-paris, lends to rome, which it calls cool-rome. */
export function aDeliverySpec(changes: Partial<ReservationDTO> = {}, offload?: Offload): DeliverySpec {
  const reservation = aReservation({ targetLiqoID: LIQO_ID, requesterLiqoID: "cool-rome", ...changes });
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}

/** What is read from the kubeconfig of a cluster. */
export function accessTo(cluster: string, token = "abc"): KubeConfig {
  return {
    origin: cluster,
    server: `https://${cluster}`,
    namespace: "default",
    trust: { insecureSkipVerify: false },
    user: { login: { kind: "token", token: { kind: "text", text: token } } },
  };
}

/** Two of rome's reservations at paris. */
export const DELIVERY_A = aDeliverySpec({ id: "rsv-rome-a" });
export const DELIVERY_B = aDeliverySpec({ id: "rsv-rome-b" });
export const [ID_A, ID_B] = [DELIVERY_A.reservation.id, DELIVERY_B.reservation.id];

export function aDesiredVirtualNode(
  changes: Partial<ReservationDTO> = {},
  offload?: Offload,
): DesiredVirtualNode {
  const reading = readDesired(aDeliverySpec(changes, offload), "nvidia.com/gpu");
  if (!reading.ok) throw new Error(reading.obstacle.message);
  return reading.desired;
}

type Role = NonNullable<ForeignCluster["status"]>["role"];

export function aForeignCluster(
  role: Role,
  {
    isReachable = true,
    silentSince = "2026-07-01T09:59:00Z",
    hasIdentity = role === "Provider" || role === "ConsumerAndProvider",
  } = {},
): ForeignCluster {
  const identity = { type: "AuthIdentityControlPlaneStatus", status: "Ready" } as const;
  const reach = { status: isReachable ? "Established" : "Error", lastTransitionTime: silentSince } as const;
  return {
    apiVersion: "core.liqo.io/v1beta1",
    kind: "ForeignCluster",
    metadata: { name: LIQO_ID, labels: { [LIQO_LABEL.remoteCluster]: LIQO_ID } },
    spec: { clusterID: LIQO_ID },
    status: {
      role,
      modules: { authentication: { conditions: hasIdentity ? [identity] : [] } },
      conditions: [{ type: "APIServerStatus", ...reach }],
    },
  };
}

export function aMarker(claims: readonly string[], { isEnding = false } = {}): PeeringMarker {
  const object = markerManifest("default", { liqoId: LIQO_ID, clusterId: "paris" }, ["rsv-none"]);
  const data = {
    liqoID: LIQO_ID,
    clusterID: "paris",
    begun: "true",
    ...Object.fromEntries(claims.map((id) => [`claim.${id}`, ""])),
    ...(isEnding ? { ending: "true" } : {}),
  };
  const marker = readMarker({ ...object, data });
  if (marker === undefined) throw new Error("no marker");
  return marker;
}

type Answer = "Accepted" | "Denied";

export function aSlice(
  desired: DesiredVirtualNode,
  {
    authentication,
    resources,
    granted = desired.resources,
  }: { authentication?: Answer; resources?: Answer; granted?: ResourceList } = {},
): ResourceSlice {
  const reason = "NoSuchReservation";
  return {
    ...sliceManifest(desired),
    status: {
      conditions: [
        ...(authentication ? [{ type: "Authentication", status: authentication } as const] : []),
        ...(resources ? [{ type: "Resources", status: resources, reason } as const] : []),
      ],
      ...(resources === "Accepted" ? { resources: granted } : {}),
    },
  };
}

/** Not of this agent's making. */
export function othersSlice(
  metadata: ResourceSlice["metadata"],
  spec: ResourceSlice["spec"] = {},
): ResourceSlice {
  return { apiVersion: "authentication.liqo.io/v1beta1", kind: "ResourceSlice", metadata, spec };
}

type NodeFields = Pick<DesiredVirtualNode, "id" | "liqoId" | "resources">;

export function aVirtualNode({ id, liqoId }: NodeFields): VirtualNode {
  const labels = { [LIQO_LABEL.resourceSlice]: id, [LIQO_LABEL.remoteCluster]: liqoId };
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: { name: id, namespace: `liqo-tenant-${liqoId}`, labels },
    spec: { clusterID: liqoId },
  };
}

export function aNode(
  { id, liqoId, resources }: NodeFields,
  { ready = "True", allocatable = resources, since = "2026-07-01T09:59:50Z", isVirtual = true } = {},
): ReservationNode {
  const labels = { [LIQO_LABEL.type]: "virtual-node", [LIQO_LABEL.remoteCluster]: liqoId };
  const condition = { status: ready, lastTransitionTime: since, reason: "NetworkUnavailable" };
  return {
    metadata: { name: id, ...(isVirtual ? { labels } : {}) },
    spec: {},
    status: { allocatable, conditions: [{ type: "Ready", ...condition }] },
  };
}

/** A pod of a controller that ends only by force. */
export function aStuckPod(name: string, nodeName: string, ownerKind = "ReplicaSet"): ReservationPod {
  const ownerReferences = [{ apiVersion: "apps/v1", kind: ownerKind, name, uid: "x", controller: true }];
  return {
    metadata: { name, namespace: "shop", finalizers: ["test/kubelet"], ownerReferences },
    spec: { nodeName },
  };
}

export const DESIRED = aDesiredVirtualNode();
export const ACCEPTED = { authentication: "Accepted", resources: "Accepted" } as const;

/** Everything is as it should be. */
export const GOOD: ObservedVirtualNode = {
  foreignCluster: aForeignCluster("Provider"),
  marker: aMarker([DESIRED.id]),
  markerNamespace: "liqo",
  job: { kind: "none" },
  slice: aSlice(DESIRED, ACCEPTED),
  virtualNode: aVirtualNode(DESIRED),
  node: aNode(DESIRED),
  tenantStatus: "admitted",
  tenantRemedy: "peer again",
  wallMs: NOW,
};
/** Changes to it: nothing is there yet. */
export const NOT_PEERED = {
  foreignCluster: undefined,
  slice: undefined,
  virtualNode: undefined,
  node: undefined,
};
/** What has become of liqoctl. */
export const FAILED = {
  kind: "failed",
  job: "peer",
  obstacle: { reason: "KubeconfigMissing", message: "there is none" },
  times: 1,
  retryInMs: 5000,
} as const;
