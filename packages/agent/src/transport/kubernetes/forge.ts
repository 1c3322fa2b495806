import {
  type AdoptionRequestDTO,
  type AdvertisementDTO,
  apiVersionOf,
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  clusterAdvertisementName,
  type Condition,
  KUBE_LABEL,
  type Reservation,
  type ReservationRequestDTO,
  reservationKind,
} from "@resource-broker/contract";
import { MANAGER } from "../../forge/labels.ts";

export type Offer = AdoptionRequestDTO["reservations"][number];

/** One field manager per condition: applying under one name removes what it applied before. */
export function signalManager(type: string): string {
  return `${MANAGER}-${type}`;
}

/** Namespace and owner of the agent's objects. */
export interface Place {
  readonly namespace: string;
  readonly clusterId: string;
}

interface Asking {
  readonly name: string;
  readonly request: ReservationRequestDTO;
}

export function reserveObject(place: Place, { name, request, key }: Asking & { readonly key: string }) {
  return reservation(place, name, { ...wishesOf(request), requesterID: place.clusterId, key });
}

export function quoteObject(place: Place, { name, request }: Asking) {
  return reservation(place, name, { ...wishesOf(request), requesterID: place.clusterId, intent: "Quote" });
}

/** The object that closes a key. */
export function releaseObject(place: Place, { name, key }: { readonly name: string; readonly key: string }) {
  return reservation(place, name, { requesterID: place.clusterId, intent: "Release", key });
}

export function offerObject(place: Place, name: string, offer: Offer) {
  const { id, requesterID, targetClusterID, requestedResources, ...held } = offer;
  return reservation(place, name, {
    requesterID,
    targetClusterID,
    requestedResources,
    intent: "Adopt",
    offer: { id, by: place.clusterId, ...held },
  });
}

/** A condition in a Reservation's status that only this agent writes. */
export function signalled({ metadata }: Reservation, condition: Condition) {
  const { name, namespace } = metadata;
  return {
    apiVersion: apiVersionOf(reservationKind),
    kind: reservationKind.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    status: { conditions: [condition] },
  };
}

/** The agent's part of the ClusterAdvertisement: reserved and available are set by the broker. */
export function advertised(
  { namespace }: Place,
  advertisement: AdvertisementDTO,
  counted: { readonly instance: string; readonly sequence: number },
): ClusterAdvertisement {
  const { reserved: _, available: __, ...resources } = advertisement.resources;
  return {
    apiVersion: apiVersionOf(clusterAdvertisementKind),
    kind: clusterAdvertisementKind.kind,
    metadata: { name: clusterAdvertisementName(advertisement.clusterID), namespace },
    spec: { ...advertisement, resources, ...counted },
  };
}

function reservation({ namespace, clusterId }: Place, name: string, spec: Reservation["spec"]): Reservation {
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
function wishesOf({ extended, requestedResources, ...wishes }: ReservationRequestDTO): Reservation["spec"] {
  const all = { ...requestedResources.extended, ...extended };
  const hasExtended = Object.keys(all).length > 0;
  return {
    ...wishes,
    requestedResources: { ...requestedResources, ...(hasExtended ? { extended: all } : {}) },
  };
}
