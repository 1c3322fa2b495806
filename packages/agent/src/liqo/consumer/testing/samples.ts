import type { ReservationDTO } from "@resource-broker/contract";
import type { Loan, Offload } from "../../../data-plane/data-plane.ts";
import { aReservation } from "../../../testing/samples.ts";
import type { ForeignCluster } from "../../objects/foreign-cluster.ts";
import { LIQO_LABEL } from "../../objects/labels.ts";
import type { ResourceList, ResourceSlice } from "../../objects/resource-slice.ts";
import type { VirtualNode } from "../../objects/virtual-node.ts";
import type { SliceAmountTerms } from "../amounts.ts";
import { forgeSlice } from "../forge-slice.ts";
import { type LoanWish, wishOf } from "../loan-wish.ts";
import { forgeMarker, type PeeringMarker, readMarker } from "../peering-marker.ts";
import type { LoanNode } from "../virtual-kinds.ts";

export const NOW = Date.parse("2026-07-01T10:00:00Z");
const LIQO_ID = "calm-paris";
export const TERMS: SliceAmountTerms = { gpuResource: "nvidia.com/gpu" };

/** paris, which Liqo calls calm-paris, lends to rome, which it calls cool-rome. */
export function aLoan(changes: Partial<ReservationDTO> = {}, offload?: Offload): Loan {
  const reservation = aReservation({ targetLiqoID: LIQO_ID, requesterLiqoID: "cool-rome", ...changes });
  return { reservation, ...(offload === undefined ? {} : { offload }) };
}

/** Two of rome's reservations at paris. */
export const LOAN_A = aLoan({ id: "rsv-rome-a" });
export const LOAN_B = aLoan({ id: "rsv-rome-b" });
export const [ID_A, ID_B] = [LOAN_A.reservation.id, LOAN_B.reservation.id];

export function aWish(changes: Partial<ReservationDTO> = {}, offload?: Offload): LoanWish {
  const reading = wishOf(aLoan(changes, offload), TERMS);
  if (!reading.ok) throw new Error(reading.obstacle.message);
  return reading.wish;
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
  const object = forgeMarker({ namespace: "default", liqoId: LIQO_ID, clusterId: "paris", claim });
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
  wish: LoanWish,
  {
    authentication,
    resources,
    granted = wish.resources,
  }: { authentication?: Answer; resources?: Answer; granted?: ResourceList } = {},
): ResourceSlice {
  return {
    ...forgeSlice(wish),
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

export function aVirtualNode({ id, liqoId }: LoanWish): VirtualNode {
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
  { id, liqoId, resources }: LoanWish,
  { ready = "True", allocatable = resources, since = "2026-07-01T09:59:50Z", isVirtual = true } = {},
): LoanNode {
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
