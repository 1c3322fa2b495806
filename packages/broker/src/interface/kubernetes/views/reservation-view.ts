import {
  apiVersionOf,
  fromReservationRequest,
  KUBE_LABEL,
  type Reservation as ReservationObject,
  RESERVATION_CONDITION,
  reservationKind,
  toQuantities,
} from "@resource-broker/contract";
import { isFinal, type Phase, type Reservation } from "@resource-broker/domain";
import { isTrue } from "../forge/conditions.ts";
import { identify } from "../forge/identify.ts";
import { isDecided } from "../forge/reservation-status.ts";
import { canonical } from "./gap.ts";
import type { StatusShare, Wanted } from "./picture.ts";

const { reserved, ready, orphaned } = RESERVATION_CONDITION;

/** What became of a renewal is written by those who carry it out; signals by the parties they come from. */
export const RESERVATION_SHARE: StatusShare = {
  othersFields: ["renewed", "code", "explanation", "decision"],
  ownConditions: [reserved, ready, orphaned],
  isDated: true,
};

/** A reservation of the ledger, as an object. */
export function reservationPicture(reservation: Reservation, namespace: string): Wanted<ReservationObject> {
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
 * True for the broker's own: with the label, or with the label torn off. An agent's object has a key, and a person's cannot
 * have the name that its reservation gets, which is made from the object's UID.
 */
export function isPicture({ metadata, spec, status }: ReservationObject): boolean {
  const label = metadata.labels?.[KUBE_LABEL.view];
  if (label !== undefined) return label === "true";
  return spec.key === undefined && status?.reservationID === metadata.name;
}

/**
 * True for an object without label and status under the name of a reservation: its picture, torn before it was finished,
 * or a person's by chance. The name is the reservation's.
 */
export function isNamesake(object: ReservationObject): boolean {
  return identify(object).sort === "person" && !isDecided(object);
}

/** The API server lets nobody change what was asked for: an object that asks for something else has to make room. */
export function isInTheWay(wanted: Wanted<ReservationObject>, object: ReservationObject): boolean {
  return canonical(wanted.spec) !== canonical(object.spec);
}

/** The ledger forgets what has ended, and only that: so it was this ledger's, and it is over. */
export function isForgotten({ status }: ReservationObject, ledgerId: string): boolean {
  const phase: Phase | undefined = status?.phase;
  if (phase === undefined || !isFinal(phase)) return false;
  // An orphan carries the ID of the ledger that does not know it.
  return status?.ledgerID === ledgerId && !isTrue(status.conditions, orphaned);
}
