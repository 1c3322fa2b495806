import {
  KUBE_LABEL,
  RESERVATION_FINALIZER,
  type Reservation as ReservationObject,
} from "@resource-broker/contract/crd";
import type { Reservation } from "@resource-broker/domain";
import { identify } from "../builders/identify.ts";
import type { ReservationStatus } from "../builders/reservation-status.ts";
import type { ReservationWrite } from "./step.ts";

/** Fails with `conflict` if the object is outdated: another replica may have granted it. */
export function writeRefusal(status: ReservationStatus): ReservationWrite {
  return { kind: "write-status", name: "refuse", status, isVersionRequired: true };
}

/** Fails with `conflict` if the object is outdated: another replica may have granted it. */
export function writeWaiting(status: ReservationStatus): ReservationWrite {
  return { kind: "write-status", status, isVersionRequired: true };
}

export function hasFinalizer({ metadata }: ReservationObject): boolean {
  return metadata.finalizers?.includes(RESERVATION_FINALIZER) === true;
}

/** Fails with `conflict` if the object is outdated, so that no outdated request is decided. */
export function addFinalizer(object: ReservationObject): ReservationWrite {
  const finalizers = [...(object.metadata.finalizers ?? []), RESERVATION_FINALIZER];
  const labels = { [KUBE_LABEL.requester]: identify(object).requester };
  const change = { metadata: { finalizers, labels } };
  return { kind: "patch", name: "add-finalizer", change, isVersionRequired: true };
}

export function removeFinalizer({ metadata }: ReservationObject): ReservationWrite {
  const finalizers = (metadata.finalizers ?? []).filter((name) => name !== RESERVATION_FINALIZER);
  const change = { metadata: { finalizers } };
  return { kind: "patch", name: "remove-finalizer", change, isVersionRequired: true };
}

export function setParties(object: ReservationObject, { provider }: Reservation): ReservationWrite {
  const labels = { [KUBE_LABEL.requester]: identify(object).requester, [KUBE_LABEL.target]: provider };
  const change = { metadata: { labels }, spec: { targetClusterID: provider } };
  return { kind: "patch", name: "set-parties", change };
}
