import {
  apiVersionOf,
  BROKER_LEASE,
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  clusterAdvertisementName,
  type Kind,
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { reservationNameFor } from "@resource-broker/domain";
import { customResource, type Lease } from "@resource-broker/kube";
import { sha256 } from "@resource-broker/runtime";

export const NAMESPACE = "lab";
export const ADVERTISEMENTS = customResource(clusterAdvertisementKind);
export const RESERVATIONS = customResource(reservationKind);

export type Condition = NonNullable<NonNullable<Reservation["status"]>["conditions"]>[number];

const AT = "2026-07-01T10:00:00Z";
const amounts = { cpu: "8", memory: "32Gi" };
const requestedResources = { cpu: "500m", memory: "512Mi" };

/** What the broker has computed for a cluster that lends to others. */
export const COMPUTED = {
  reserved: { cpu: "500m", memory: "512Mi" },
  available: { cpu: "3500m", memory: "15872Mi" },
};

/** As an agent applies it: what is the broker's is left out. */
export function advertisementOf(clusterID: string, sequence = 1): ClusterAdvertisement {
  return {
    ...typeOf(clusterAdvertisementKind),
    metadata: { name: clusterAdvertisementName(clusterID), namespace: NAMESPACE },
    spec: {
      clusterID,
      resources: { capacity: amounts, allocatable: amounts, allocated: { cpu: "4", memory: "16Gi" } },
      timestamp: AT,
      instance: "7c0f3a52",
      sequence,
    },
  };
}

/** As it is after the broker has had its say. */
export function knownAdvertisement(clusterID: string): ClusterAdvertisement {
  const { spec, ...object } = advertisementOf(clusterID);
  return {
    ...object,
    spec: { ...spec, resources: { ...spec.resources, ...COMPUTED } },
    status: { phase: "Active", active: true, score: "43.75", lastUpdateTime: AT },
  };
}

/** A new request of a cluster, under the name that its key gives it. */
export function requestOf(requesterID: string, spec: Partial<Reservation["spec"]> = {}): Reservation {
  const key = "5f1c8a3e-2";
  return {
    ...typeOf(reservationKind),
    metadata: { name: reservationNameFor(requesterID, key, sha256), namespace: NAMESPACE },
    spec: { requesterID, requestedResources, key, ...spec },
  };
}

/** rome borrows from paris: what the broker has made of rome's request. */
export const HELD: Reservation = {
  ...typeOf(reservationKind),
  metadata: {
    name: reservationNameFor("rome", "held", sha256),
    namespace: NAMESPACE,
    labels: { [KUBE_LABEL.requester]: "rome", [KUBE_LABEL.target]: "paris" },
    finalizers: [RESERVATION_FINALIZER],
  },
  spec: { requesterID: "rome", targetClusterID: "paris", requestedResources, key: "held" },
  status: {
    phase: "Reserved",
    message: "Use paris for 500m CPU / 512Mi Memory",
    generation: 1,
    conditions: [condition("Reserved"), condition("Ready")],
  },
};

/** Asked for by a person in paris' name over HTTP: the broker shows it. */
export const SHOWN: Reservation = {
  ...typeOf(reservationKind),
  metadata: {
    name: reservationNameFor("paris", "shown", sha256),
    namespace: NAMESPACE,
    labels: { [KUBE_LABEL.view]: "true", [KUBE_LABEL.requester]: "paris", [KUBE_LABEL.target]: "rome" },
  },
  spec: { requesterID: "paris", targetClusterID: "rome", requestedResources },
  status: { phase: "Active", conditions: [condition("Reserved")] },
};

/** `by` still holds a reservation of rome's in paris that the broker has forgotten. */
export function offerBy(by: string, spec: Partial<Reservation["spec"]> = {}): Reservation {
  const id = reservationNameFor("rome", "forgotten", sha256);
  return {
    ...typeOf(reservationKind),
    metadata: { name: `${id}-offer-${by}`, namespace: NAMESPACE },
    spec: {
      requesterID: "rome",
      targetClusterID: "paris",
      requestedResources,
      intent: "Adopt",
      offer: { id, by, phase: "Active", generation: 2, createdAt: AT },
      ...spec,
    },
  };
}

export const LEASE: Lease = {
  metadata: { name: BROKER_LEASE, namespace: NAMESPACE },
  spec: { holderIdentity: "broker-0", leaseDurationSeconds: 15 },
};

function typeOf(kind: Kind<unknown, unknown>) {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}

export function condition(type: string, status: Condition["status"] = "True"): Condition {
  return { type, status, lastTransitionTime: AT, reason: "Told", message: "" };
}
