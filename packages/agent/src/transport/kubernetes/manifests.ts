import {
  type AdoptionRequestDTO,
  type AdvertisementDTO,
  PROTOCOL_VERSION,
  type ReservationRequestDTO,
} from "@resource-broker/contract";
import {
  apiVersionOf,
  type ClusterAdvertisement,
  type Condition,
  clusterAdvertisementKind,
  clusterAdvertisementName,
  KUBE_ANNOTATION,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import { customResource } from "@resource-broker/kube";
import { MANAGER } from "../../manifests/labels.ts";

export type Offer = AdoptionRequestDTO["reservations"][number];

/** One field manager per condition: applying under one name removes what it applied before. */
export function conditionManager(type: string): string {
  return `${MANAGER}-${type}`;
}

/** Namespace and owner of the agent's objects. */
export interface ObjectScope {
  readonly namespace: string;
  readonly clusterId: string;
}

interface Keyed {
  /** Of the object. */
  readonly name: string;
  readonly key: string;
}

export function reserveManifest(
  scope: ObjectScope,
  { name, key, request }: Keyed & { readonly request: ReservationRequestDTO },
) {
  return reservation(scope, name, { ...specOf(request), requesterID: scope.clusterId, key });
}

/** The object that closes a key. */
export function releaseManifest(scope: ObjectScope, { name, key }: Keyed) {
  return reservation(scope, name, { requesterID: scope.clusterId, intent: "Release", key });
}

export function offerManifest(scope: ObjectScope, name: string, offer: Offer) {
  const { id, requesterID, targetClusterID, requestedResources, ...held } = offer;
  return reservation(scope, name, {
    requesterID,
    targetClusterID,
    requestedResources,
    intent: "Adopt",
    offer: { id, by: scope.clusterId, ...held },
  });
}

/** A condition in a Reservation's status that only this agent writes. */
export function conditionManifest({ metadata }: Reservation, condition: Condition) {
  const { name, namespace } = metadata;
  return {
    apiVersion: apiVersionOf(reservationKind),
    kind: reservationKind.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    status: { conditions: [condition] },
  };
}

/** The agent's part of the ClusterAdvertisement: reserved and available are set by the broker. */
export function advertisementManifest(
  { namespace }: ObjectScope,
  advertisement: AdvertisementDTO,
  counted: { readonly instance: string; readonly sequence: number },
): ClusterAdvertisement {
  const { reserved: _, available: __, ...resources } = advertisement.resources;
  return {
    apiVersion: apiVersionOf(clusterAdvertisementKind),
    kind: clusterAdvertisementKind.kind,
    metadata: {
      name: clusterAdvertisementName(advertisement.clusterID),
      namespace,
      // Not in the spec: an older definition of the object would refuse all of it.
      annotations: { [KUBE_ANNOTATION.protocol]: String(PROTOCOL_VERSION) },
    },
    spec: { ...advertisement, resources, ...counted },
  };
}

function reservation(
  { namespace, clusterId }: ObjectScope,
  name: string,
  spec: Reservation["spec"],
): Reservation {
  const { requesterID, targetClusterID } = spec;
  // Set so that the agent's own watch sees the object from the start; the broker sets both labels in the end.
  const labels = {
    ...(requesterID === undefined ? {} : { [KUBE_LABEL.requester]: requesterID }),
    ...(targetClusterID === clusterId ? { [KUBE_LABEL.target]: clusterId } : {}),
  };
  return {
    apiVersion: apiVersionOf(reservationKind),
    kind: reservationKind.kind,
    metadata: { name, namespace, labels },
    spec,
  };
}

/** Extended resources are in one field of the object, and in two on the wire. */
function specOf({ extended, requestedResources, ...rest }: ReservationRequestDTO): Reservation["spec"] {
  const all = { ...requestedResources.extended, ...extended };
  const hasExtended = Object.keys(all).length > 0;
  return {
    ...rest,
    requestedResources: { ...requestedResources, ...(hasExtended ? { extended: all } : {}) },
  };
}

export const RESERVATIONS = customResource(reservationKind);
export const CLUSTER_ADVERTISEMENTS = customResource(clusterAdvertisementKind);

/** A condition that a party sets on a reservation. */
export type PartyCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

const { requesterActive, requesterReleased, providerHolding } = RESERVATION_CONDITION;

export function activeCondition(clusterId: string): PartyCondition {
  return { type: requesterActive, status: "True", reason: "InUse", message: `${clusterId} uses it` };
}

export function releasedCondition(clusterId: string): PartyCondition {
  const message = `${clusterId} no longer needs it`;
  return { type: requesterReleased, status: "True", reason: "Released", message };
}

export function holdingCondition(clusterId: string): PartyCondition {
  return { type: providerHolding, status: "True", reason: "Held", message: `${clusterId} holds it` };
}

export function refusedCondition(message: string): PartyCondition {
  return { type: providerHolding, status: "False", reason: "Refused", message };
}
