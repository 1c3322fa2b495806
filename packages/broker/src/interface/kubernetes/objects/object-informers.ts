import { Fault, type ObjectMeta } from "@resource-broker/base";
import {
  type ClusterAdvertisement,
  clusterAdvertisementKind,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import type { ReservationId } from "@resource-broker/domain";
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  customResource,
  informer,
  type KubeClient,
  NAMESPACES,
  type ObjectCache,
  type ReflectorDeps,
} from "@resource-broker/kube";
import { identify } from "../builders/identify.ts";
import { DECISION_PLACEHOLDER } from "../builders/reservation-status.ts";

export const RESERVATIONS = customResource(reservationKind);
export const CLUSTER_ADVERTISEMENTS = customResource(clusterAdvertisementKind);

/** The objects of the namespace, followed once for all parts; by `<namespace>/<name>` (`objectKey`). */
export interface ObjectInformers {
  /** Without managed fields; a decision's text is replaced by `DECISION_PLACEHOLDER`. */
  readonly reservations: ObjectCache<Reservation>;
  readonly advertisements: ObjectCache<ClusterAdvertisement>;
  /**
   * Objects without the view label that represent a reservation of the ledger: an agent's object of the same name, or a
   * person's object of any name. If there is one, no view is needed.
   */
  readonly requestsFor: (id: ReservationId) => readonly Reservation[];
  /** Keys of the objects that offer this reservation for adoption. */
  readonly offersOf: (id: ReservationId) => readonly string[];
  /** Resolves when all there is has been seen. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
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

interface ObjectLocation {
  readonly namespace: string;
  readonly kind: { readonly plural: string; readonly group: string };
  /** Returns false, instead of throwing, for what the broker may not read. */
  readonly isForbiddenIgnored?: boolean;
}

/**
 * True if the namespace or the CRD of the kind is being deleted or is missing: then the objects are deleted with it, and
 * nobody asked for that. The server marks namespace and CRD before it deletes their objects, so a check after a
 * deletion was seen is reliable.
 */
export async function isNamespaceTerminating(
  client: KubeClient,
  { namespace, kind, isForbiddenIgnored = false }: ObjectLocation,
): Promise<boolean> {
  const name = `${kind.plural}.${kind.group}`;
  const isTerminating = await Promise.all(
    [client.find(NAMESPACES, { name: namespace }), client.find(CUSTOM_RESOURCE_DEFINITIONS, { name })].map(
      async (found) => {
        try {
          return isDeleted(await found);
        } catch (error) {
          if (isForbiddenIgnored && error instanceof Fault && error.code === "forbidden") return false;
          throw error;
        }
      },
    ),
  );
  return isTerminating.includes(true);
}

interface Deletable {
  readonly metadata: { readonly deletionTimestamp?: string };
  /** Only namespaces have a phase. */
  readonly status?: { readonly phase?: string; readonly conditions?: unknown };
}

function isDeleted(object: Deletable | undefined): boolean {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return true;
  return object.status?.phase === "Terminating";
}
