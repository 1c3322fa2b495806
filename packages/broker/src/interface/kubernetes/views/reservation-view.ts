import { fromReservationRequest, toQuantities } from "@resource-broker/contract";
import {
  apiVersionOf,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  type Reservation as ReservationObject,
  reservationKind,
} from "@resource-broker/contract/crd";
import { isFinal, type Phase, type Reservation } from "@resource-broker/domain";
import { isTrue } from "../builders/conditions.ts";
import { identify } from "../builders/identify.ts";
import { isDecided } from "../builders/reservation-status.ts";
import { canonical } from "../objects/diff.ts";
import type { DesiredObject, StatusOwnership } from "./desired-object.ts";

const { reserved, ready, orphaned } = RESERVATION_CONDITION;

/** Renewal results and signals belong to other writers. */
export const RESERVATION_OWNERSHIP: StatusOwnership = {
  othersFields: ["renewed", "code", "explanation", "decision"],
  ownConditions: [reserved, ready, orphaned],
  ignoresUpdateTime: true,
};

/** The view of a reservation in the ledger. */
export function desiredReservation(
  reservation: Reservation,
  namespace: string,
): DesiredObject<ReservationObject> {
  const { id, requester, provider, granted, request } = reservation;
  return {
    apiVersion: apiVersionOf(reservationKind),
    kind: reservationKind.kind,
    metadata: {
      name: id,
      namespace,
      labels: {
        [KUBE_LABEL.view]: "true",
        [KUBE_LABEL.requester]: requester,
        [KUBE_LABEL.target]: provider,
      },
    },
    spec: {
      ...fromReservationRequest(request),
      requesterID: requester,
      targetClusterID: provider,
      requestedResources: toQuantities(granted),
    },
  };
}

/**
 * True for a view of the broker, even if its label was removed. An agent's object has a key, and the name of a person's object
 * never equals its reservation id, which is derived from the UID.
 */
export function isView({ metadata, spec, status }: ReservationObject): boolean {
  const label = metadata.labels?.[KUBE_LABEL.view];
  if (label !== undefined) return label === "true";
  return spec.key === undefined && status?.reservationID === metadata.name;
}

/**
 * True for an object without label and status that has the name of a reservation: an unfinished view, or a person's object
 * with that name by chance. The name belongs to the reservation.
 */
export function hasReservationName(object: ReservationObject): boolean {
  return identify(object).origin === "person" && !isDecided(object);
}

/** True if the spec differs. The request in a spec is immutable, so the object must be deleted and created again. */
export function hasOtherSpec(desired: DesiredObject<ReservationObject>, object: ReservationObject): boolean {
  return canonical(desired.spec) !== canonical(object.spec);
}

/** True if the reservation ended in this ledger: the ledger forgets only ended reservations. */
export function isForgotten({ status }: ReservationObject, ledgerId: string): boolean {
  const phase: Phase | undefined = status?.phase;
  if (phase === undefined || !isFinal(phase)) return false;
  // An orphan carries the ID of the ledger that does not know it.
  return status?.ledgerID === ledgerId && !isTrue(status.conditions, orphaned);
}
