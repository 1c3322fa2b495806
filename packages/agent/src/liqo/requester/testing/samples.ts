import type { ReservationDTO } from "@resource-broker/contract";
import type { DeliverySpec, Offload } from "../../../data-plane/data-plane.ts";
import { aReservation } from "../../../testing/samples.ts";
import type { ResourceList, ResourceSlice } from "../../objects/authentication.ts";
import type { ForeignCluster } from "../../objects/core.ts";
import { LIQO_LABEL } from "../../objects/labels.ts";
import type { VirtualNode } from "../../objects/offloading.ts";
import { type DesiredVirtualNode, readDesired } from "../desired-virtual-node.ts";
import { markerManifest, type PeeringMarker, readMarker } from "../peering-store.ts";
import { type EstablishStep, type ObservedVirtualNode, planEstablish } from "../plan-establish.ts";
import type { ReservationNode } from "../reservation-nodes.ts";
import type { SliceAmountTerms } from "../slice-amounts.ts";
import { sliceManifest } from "../slice-manifest.ts";

export const NOW = Date.parse("2026-07-01T10:00:00Z");
const LIQO_ID = "calm-paris";
export const TERMS: SliceAmountTerms = { gpuResource: "nvidia.com/gpu" };

/** paris, which Liqo calls calm-paris, lends to rome, which it calls cool-rome. */
export function aDeliverySpec(changes: Partial<ReservationDTO> = {}, offload?: Offload): DeliverySpec {
  const reservation = aReservation({ targetLiqoID: LIQO_ID, requesterLiqoID: "cool-rome", ...changes });
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}

/** Two of rome's reservations at paris. */
export const DELIVERY_A = aDeliverySpec({ id: "rsv-rome-a" });
export const DELIVERY_B = aDeliverySpec({ id: "rsv-rome-b" });
export const [ID_A, ID_B] = [DELIVERY_A.reservation.id, DELIVERY_B.reservation.id];

export function aDesiredVirtualNode(
  changes: Partial<ReservationDTO> = {},
  offload?: Offload,
): DesiredVirtualNode {
  const reading = readDesired(aDeliverySpec(changes, offload), TERMS);
  if (!reading.ok) throw new Error(reading.obstacle.message);
  return reading.desired;
}

type Role = NonNullable<ForeignCluster["status"]>["role"];

export function aForeignCluster(
  role: Role,
  {
    liqoId = LIQO_ID,
    isReachable = true,
    silentSince = "2026-07-01T09:59:00Z",
    hasNetwork = role !== "Unknown",
    hasIdentity = role === "Provider" || role === "ConsumerAndProvider",
  } = {},
): ForeignCluster {
  const module = { enabled: true };
  const identity = { type: "AuthIdentityControlPlaneStatus", status: "Ready" } as const;
  return {
    apiVersion: "core.liqo.io/v1beta1",
    kind: "ForeignCluster",
    metadata: { name: liqoId, labels: { [LIQO_LABEL.remoteCluster]: liqoId } },
    spec: { clusterID: liqoId },
    status: {
      role,
      modules: {
        networking: { enabled: hasNetwork },
        authentication: { ...module, conditions: hasIdentity ? [identity] : [] },
        offloading: module,
      },
      conditions: [
        {
          type: "APIServerStatus",
          status: isReachable ? "Established" : "Error",
          lastTransitionTime: silentSince,
        },
      ],
    },
  };
}

export function aMarker(claims: readonly string[], { isEnding = false } = {}): PeeringMarker {
  const [claim = "rsv-none"] = claims;
  const object = markerManifest({ namespace: "default", liqoId: LIQO_ID, clusterId: "paris", claim });
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

export type Answer = "Accepted" | "Denied";

export function aSlice(
  desired: DesiredVirtualNode,
  {
    authentication,
    resources,
    granted = desired.resources,
  }: { authentication?: Answer; resources?: Answer; granted?: ResourceList } = {},
): ResourceSlice {
  return {
    ...sliceManifest(desired),
    status: {
      conditions: [
        ...(authentication === undefined
          ? []
          : [{ type: "Authentication", status: authentication } as const]),
        ...(resources === undefined
          ? []
          : [{ type: "Resources", status: resources, reason: "NoSuchReservation" } as const]),
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

export function aVirtualNode({ id, liqoId }: DesiredVirtualNode): VirtualNode {
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "VirtualNode",
    metadata: {
      name: id,
      namespace: `liqo-tenant-${liqoId}`,
      labels: { [LIQO_LABEL.resourceSlice]: id, [LIQO_LABEL.remoteCluster]: liqoId },
    },
    spec: { clusterID: liqoId, createNode: true },
  };
}

export function aNode(
  { id, liqoId, resources }: DesiredVirtualNode,
  { ready = "True", allocatable = resources, since = "2026-07-01T09:59:50Z", isVirtual = true } = {},
): ReservationNode {
  const labels = { [LIQO_LABEL.type]: "virtual-node", [LIQO_LABEL.remoteCluster]: liqoId };
  return {
    metadata: { name: id, ...(isVirtual ? { labels } : {}) },
    spec: {},
    status: {
      allocatable,
      conditions: [{ type: "Ready", status: ready, lastTransitionTime: since, reason: "NetworkUnavailable" }],
    },
  };
}

export const DESIRED = aDesiredVirtualNode();
export const ACCEPTED = { authentication: "Accepted", resources: "Accepted" } as const;

export const VIRTUAL_NODE = aVirtualNode(DESIRED);
/** Everything is as it should be. */
export const GOOD: ObservedVirtualNode = {
  foreignCluster: aForeignCluster("Provider"),
  marker: aMarker([DESIRED.id]),
  job: { kind: "none" },
  slice: aSlice(DESIRED, ACCEPTED),
  virtualNode: VIRTUAL_NODE,
  node: aNode(DESIRED),
  tenantStatus: "admitted",
  offload: { kind: "done" },
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
/** The next step of a loan where all is good but this. */
export const plan = (changes: Partial<ObservedVirtualNode>): EstablishStep =>
  planEstablish(DESIRED, { ...GOOD, ...changes });
