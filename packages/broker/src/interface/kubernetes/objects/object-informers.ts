import type { ObjectMeta } from "@resource-broker/base";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import type { ReservationId } from "@resource-broker/domain";
import { customResource, informer, type ReflectorDeps } from "@resource-broker/kube";
import { identify } from "../builders/identify.ts";
import { DECISION_PLACEHOLDER } from "../builders/texts.ts";
import type { KnownObjects } from "../ports.ts";

export const RESERVATIONS = customResource(reservationKind);
export const CLUSTER_ADVERTISEMENTS = customResource(clusterAdvertisementKind);

export interface ObjectInformers extends KnownObjects {
  /** Resolves when all there is has been seen. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Keys of the objects that offer this reservation for adoption. */
  readonly offersOf: (id: ReservationId) => readonly string[];
}

/** Follows the namespace's objects once, for every part of the interface. */
export function objectInformers(namespace: string, deps: ReflectorDeps): ObjectInformers {
  const reservations = informer({ resource: RESERVATIONS, namespace, transform: trimReservation }, deps);
  const advertisements = informer(
    { resource: CLUSTER_ADVERTISEMENTS, namespace, transform: trimAdvertisement },
    deps,
  );
  const requests = keyIndex();
  const offers = keyIndex();
  // Registered first, so that other listeners find the index up to date.
  reservations.listen((key, now) => {
    requests.put(key, now === undefined ? undefined : requestedId(now));
    offers.put(key, now?.spec.offer?.id);
  });
  return {
    reservations,
    advertisements,
    requestsFor: (id) => requests.keysOf(id).flatMap((key) => reservations.get(key) ?? []),
    offersOf: offers.keysOf,
    start: async () => {
      await Promise.all([reservations.start(), advertisements.start()]);
    },
    stop: async () => {
      await Promise.all([reservations.stop(), advertisements.stop()]);
    },
  };
}

function requestedId(object: Reservation): ReservationId | undefined {
  const { origin, intent, id } = identify(object);
  const isRequest = origin === "person" || (origin === "agent" && object.metadata.name === id);
  return isRequest && intent === "Reserve" ? id : undefined;
}

/** Trims a Reservation for the cache: the decision's text may have hundreds of kilobytes and is not needed. */
export function trimReservation(object: Reservation): Reservation {
  const kept = { ...object, metadata: withoutManagedFields(object.metadata) };
  if (object.status?.decision === undefined) return kept;
  return { ...kept, status: { ...object.status, decision: DECISION_PLACEHOLDER } };
}

export function trimAdvertisement(object: ClusterAdvertisement): ClusterAdvertisement {
  return { ...object, metadata: withoutManagedFields(object.metadata) };
}

export function withoutManagedFields(metadata: ObjectMeta): ObjectMeta {
  const { managedFields: _, ...kept } = metadata as ObjectMeta & { readonly managedFields?: unknown };
  return kept;
}

/** Which keys belong to a name. A key belongs to one name at most. */
interface KeyIndex {
  /** Undefined: it belongs to none any more. */
  readonly put: (key: string, name: string | undefined) => void;
  readonly keysOf: (name: string) => readonly string[];
}

function keyIndex(): KeyIndex {
  const names = new Map<string, string>();
  const keys = new Map<string, Set<string>>();

  const remove = (key: string): void => {
    const name = names.get(key);
    if (name === undefined) return;
    names.delete(key);
    const others = keys.get(name);
    others?.delete(key);
    if (others?.size === 0) keys.delete(name);
  };
  return {
    put: (key, name) => {
      if (names.get(key) === name) return;
      remove(key);
      if (name === undefined) return;
      names.set(key, name);
      keys.set(name, (keys.get(name) ?? new Set()).add(key));
    },
    keysOf: (name) => [...(keys.get(name) ?? [])],
  };
}
