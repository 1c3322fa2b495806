import {
  fitted,
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract";
import type { ClusterId } from "@resource-broker/domain";
import type { KubeClient } from "@resource-broker/kube";
import type { ReservationStatus } from "../forge/reservation-status.ts";
import { RESERVATIONS } from "../objects/resources.ts";
import { FIELD_MANAGER, RENEWAL_FIELD_MANAGER } from "../ports.ts";

/** Every write of the interface to Reservations. Each is about one very object: never about its successor of that name. */
export interface ReservationWriter {
  /** Puts the finalizer on; `conflict` when the object is not the newest, so that nothing old is decided. */
  readonly hold: (object: Reservation, requester: ClusterId) => Promise<Reservation>;
  readonly letGo: (object: Reservation) => Promise<Reservation>;
  readonly nameParties: (
    object: Reservation,
    requester: ClusterId,
    target: ClusterId,
  ) => Promise<Reservation>;
  readonly tell: (object: Reservation, status: ReservationStatus) => Promise<Reservation>;
  /** As `tell`, but `conflict` when the object is not the newest: its successor may have granted it meanwhile. */
  readonly tellRefusal: (object: Reservation, status: ReservationStatus) => Promise<Reservation>;
  /** What became of a renewal: fields of their own, so that a status written meanwhile does not take them back. */
  readonly tellRenewal: (
    object: Reservation,
    answer: Pick<ReservationStatus, "renewed" | "code" | "explanation">,
  ) => Promise<Reservation>;
  /** Takes fields of the status away that an apply cannot: others wrote them. */
  readonly dropFields: (object: Reservation, names: readonly string[]) => Promise<Reservation>;
  readonly remove: (object: Reservation) => Promise<void>;
}

export function reservationWriter(client: KubeClient): ReservationWriter {
  const change = (object: Reservation, body: object): Promise<Reservation> =>
    client.patch(
      RESERVATIONS,
      { name: nameOf(object), patch: { kind: "merge", body } },
      { fieldManager: FIELD_MANAGER },
    );
  const applyStatus = (
    { metadata }: Pick<Reservation, "metadata">,
    status: ReservationStatus,
    fieldManager: string,
  ): Promise<Reservation> =>
    client.apply(RESERVATIONS, { metadata, status }, { fieldManager, force: true, subresource: "status" });
  return {
    hold: (object, requester) =>
      change(object, {
        metadata: {
          ...versionOf(object),
          finalizers: [...(object.metadata.finalizers ?? []), RESERVATION_FINALIZER],
          labels: { [KUBE_LABEL.requester]: requester },
        },
      }),
    letGo: (object) =>
      change(object, {
        metadata: {
          ...versionOf(object),
          finalizers: (object.metadata.finalizers ?? []).filter((name) => name !== RESERVATION_FINALIZER),
        },
      }),
    nameParties: (object, requester, target) =>
      change(object, {
        metadata: {
          ...uidOf(object),
          labels: { [KUBE_LABEL.requester]: requester, [KUBE_LABEL.target]: target },
        },
        spec: { targetClusterID: target },
      }),
    tell: (object, status) => applyStatus(thatOne(object), status, FIELD_MANAGER),
    tellRefusal: (object, status) => applyStatus(thatVersion(object), status, FIELD_MANAGER),
    tellRenewal: (object, answer) =>
      applyStatus(thatOne(object), fitted(reservationKind.status, answer), RENEWAL_FIELD_MANAGER),
    dropFields: (object, names) => {
      const status = Object.fromEntries(names.map((name) => [name, null]));
      const body = { metadata: uidOf(object), status };
      return client.patch(
        RESERVATIONS,
        { name: nameOf(object), patch: { kind: "merge", body } },
        { fieldManager: FIELD_MANAGER, subresource: "status" },
      );
    },
    remove: (object) => client.delete(RESERVATIONS, nameOf(object), uidOf(object)),
  };
}

function nameOf({ metadata }: Reservation): { readonly name: string; readonly namespace: string } {
  return { name: metadata.name, namespace: metadata.namespace ?? "" };
}

function uidOf({ metadata }: Reservation): { readonly uid?: string } {
  return metadata.uid === undefined ? {} : { uid: metadata.uid };
}

function thatOne(object: Reservation): Pick<Reservation, "metadata"> {
  return { metadata: { ...nameOf(object), ...uidOf(object) } };
}

function thatVersion(object: Reservation): Pick<Reservation, "metadata"> {
  return { metadata: { ...thatOne(object).metadata, ...versionOf(object) } };
}

function versionOf({ metadata }: Reservation): { readonly resourceVersion?: string } {
  return metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion };
}
