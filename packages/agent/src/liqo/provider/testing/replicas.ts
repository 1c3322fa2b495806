import type { ReservationDTO } from "@resource-broker/contract";
import type { Namespace } from "@resource-broker/kube";
import { aReservation } from "../../../testing/samples.ts";
import type { Quota } from "../../objects/quota.ts";
import type { ResourceSlice } from "../../objects/resource-slice.ts";
import type { ShadowPod } from "../../objects/shadow-pod.ts";
import type { Tenant } from "../../objects/tenant.ts";
import { creatorUserOf } from "../creator-user.ts";

export const ROME = "rome-liqo";
export const MALLORY = "mallory-liqo";
export const { id: ID } = aReservation();
/** Where rome's replica lies. */
export const ROMES = { name: ID, namespace: `liqo-tenant-${ROME}` };
/** What rome's agent asks for. */
export const ASKED = { cpu: "4", memory: "8Gi", pods: "110", "ephemeral-storage": "20Gi" };

/** paris lends 4 CPU and 8Gi to rome, whose ID in Liqo the broker knows. */
export function aProviderReservation(changes: Partial<ReservationDTO> = {}): ReservationDTO {
  return aReservation({ requesterLiqoID: ROME, ...changes });
}

export interface ReplicaChanges {
  readonly name?: string;
  /** Whose tenant namespace it lies in. */
  readonly tenant?: string;
  /** Whose it says it is. */
  readonly origin?: string;
  readonly spec?: Partial<ResourceSlice["spec"]>;
  readonly status?: NonNullable<ResourceSlice["status"]>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A slice as Liqo's replicator writes it on the provider. */
export function aReplica(changes: ReplicaChanges = {}): ResourceSlice {
  const { name = ID, tenant = ROME, origin = tenant, spec, status, annotations } = changes;
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "ResourceSlice",
    metadata: {
      name,
      namespace: `liqo-tenant-${tenant}`,
      labels: {
        "liqo.io/originID": origin,
        "liqo.io/remote-cluster-id": origin,
        "liqo.io/remoteID": "paris-liqo",
        "liqo.io/replicated": "true",
        "liqo.io/replication": "false",
        "rear.fluidos.eu/reservation": name,
      },
      annotations: { "liqo.io/create-virtual-node": "true", ...annotations },
    },
    spec: {
      class: "resource-broker",
      consumerClusterID: origin,
      providerClusterID: "paris-liqo",
      csr: "LS0tLS1CRUdJTg==",
      resources: ASKED,
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** What Liqo itself writes about a replica it lets in. */
export const AUTHENTICATED = {
  type: "Authentication",
  status: "Accepted",
  reason: "ResourceSliceAuthenticationAccepted",
  message: "ResourceSlice authentication accepted",
  lastTransitionTime: "2026-07-01T09:59:00Z",
} as const;

export function acceptedWith(
  resources: Readonly<Record<string, string>>,
): NonNullable<ResourceSlice["status"]> {
  return {
    authParams: { apiServer: "https://paris:6443", signedCRT: "LS0t" },
    conditions: [
      AUTHENTICATED,
      {
        type: "Resources",
        status: "Accepted",
        reason: "Reserved",
        message: "reserved for rome",
        lastTransitionTime: "2026-07-01T10:00:00Z",
      },
    ],
    resources,
  };
}

export function tenantNamespace(tenant: string): Namespace {
  return {
    metadata: {
      name: `liqo-tenant-${tenant}`,
      labels: { "liqo.io/tenant-namespace": "true", "liqo.io/remote-cluster-id": tenant },
    },
  };
}

export function aTenant(tenant: string, tenantCondition: "Active" | "Cordoned" | "Drained"): Tenant {
  return {
    apiVersion: "authentication.liqo.io/v1beta1",
    kind: "Tenant",
    metadata: { name: tenant, namespace: `liqo-tenant-${tenant}` },
    spec: { clusterID: tenant, tenantCondition },
  };
}

export function aQuota(tenant: string, changes: Partial<Quota["spec"]> = {}): Quota {
  const user = creatorUserOf(ID, tenant);
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "Quota",
    metadata: { name: user, namespace: `liqo-tenant-${tenant}` },
    spec: { user, limitsEnforcement: "None", resources: ASKED, ...changes },
  };
}

/** A pod that `tenant` runs here through the slice; without `isStamped`, Liqo does not enforce resources here. */
export function aShadowPod(name: string, { tenant = ROME, slice = ID, isStamped = true } = {}): ShadowPod {
  return {
    apiVersion: "offloading.liqo.io/v1beta1",
    kind: "ShadowPod",
    metadata: {
      name,
      namespace: `shop-${tenant}`,
      labels: {
        app: "web",
        "liqo.io/managed-by": "shadowpod",
        "offloading.liqo.io/origin": tenant,
        "offloading.liqo.io/destination": "paris-liqo",
        "offloading.liqo.io/nodename": slice,
        ...(isStamped ? { "liqo.io/creator-user": creatorUserOf(slice, tenant) } : {}),
      },
    },
    spec: { pod: { containers: [{ name: "web", image: "web" }] } },
    status: { phase: "Running" },
  };
}
