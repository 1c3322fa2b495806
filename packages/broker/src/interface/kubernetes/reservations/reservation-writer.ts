import { fitToSchema } from "@resource-broker/contract";
import {
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation,
  reservationKind,
} from "@resource-broker/contract/crd";
import type { ClusterId } from "@resource-broker/domain";
import type { KubeClient } from "@resource-broker/kube";
import type { ReservationStatus } from "../builders/reservation-status.ts";
import { RESERVATIONS } from "../objects/object-informers.ts";
import { FIELD_MANAGER, RENEWAL_FIELD_MANAGER } from "../ports.ts";

/** All writes to Reservations. Each write requires the UID, so it never changes a new object of the same name. */
export interface ReservationWriter {
  /** Adds the finalizer. Fails with `conflict` if the object is outdated, so that no outdated request is decided. */
  readonly addFinalizer: (object: Reservation, requester: ClusterId) => Promise<Reservation>;
  readonly removeFinalizer: (object: Reservation) => Promise<Reservation>;
  readonly setParties: (object: Reservation, requester: ClusterId, target: ClusterId) => Promise<Reservation>;
  readonly writeStatus: (object: Reservation, status: ReservationStatus) => Promise<Reservation>;
  /** Writes a refusal. Fails with `conflict` if the object is outdated: another replica may have granted it. */
  readonly writeRefusal: (object: Reservation, status: ReservationStatus) => Promise<Reservation>;
  /** Writes the result of a renewal with its own field manager, so that other status writes do not remove it. */
  readonly writeRenewal: (
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
    addFinalizer: (object, requester) =>
      change(object, {
        metadata: {
          ...versionOf(object),
          finalizers: [...(object.metadata.finalizers ?? []), RESERVATION_FINALIZER],
          labels: { [KUBE_LABEL.requester]: requester },
        },
      }),
    removeFinalizer: (object) =>
      change(object, {
        metadata: {
          ...versionOf(object),
          finalizers: (object.metadata.finalizers ?? []).filter((name) => name !== RESERVATION_FINALIZER),
        },
      }),
    setParties: (object, requester, target) =>
      change(object, {
        metadata: {
          ...uidOf(object),
          labels: { [KUBE_LABEL.requester]: requester, [KUBE_LABEL.target]: target },
        },
        spec: { targetClusterID: target },
      }),
    writeStatus: (object, status) => applyStatus(identifiedByUid(object), status, FIELD_MANAGER),
    writeRefusal: (object, status) => applyStatus(identifiedByVersion(object), status, FIELD_MANAGER),
    writeRenewal: (object, answer) =>
      applyStatus(
        identifiedByUid(object),
        fitToSchema(reservationKind.status, answer),
        RENEWAL_FIELD_MANAGER,
      ),
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

function identifiedByUid(object: Reservation): Pick<Reservation, "metadata"> {
  return { metadata: { ...nameOf(object), ...uidOf(object) } };
}

function identifiedByVersion(object: Reservation): Pick<Reservation, "metadata"> {
  return { metadata: { ...identifiedByUid(object).metadata, ...versionOf(object) } };
}

function versionOf({ metadata }: Reservation): { readonly resourceVersion?: string } {
  return metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion };
}
