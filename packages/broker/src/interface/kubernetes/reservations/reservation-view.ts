import { fromReservationRequest, toQuantities } from "@resource-broker/contract";
import {
  apiVersionOf,
  KUBE_LABEL,
  RESERVATION_CONDITION,
  type Reservation as ReservationObject,
  reservationKind,
} from "@resource-broker/contract/crd";
import { isFinal, type Phase, type Reservation } from "@resource-broker/domain";
import { canonical, isTrue } from "../builders/conditions.ts";
import { identify, isImported } from "../builders/identify.ts";
import {
  isDecided,
  isWaiting,
  orphanedStatus,
  RESERVATION_OWNERSHIP,
  reservationStatus,
} from "../builders/reservation-status.ts";
import { FIELD_MANAGER } from "../ports.ts";
import {
  type DesiredObject,
  planView,
  statusWrite,
  stepFor,
  type ViewParts,
} from "../projection/desired-object.ts";
import { hasFinalizer, removeFinalizer } from "./reservation-writes.ts";
import type { ReservationState, ReservationStep, ReservationWrite } from "./step.ts";

const VIEW: ViewParts<ReservationObject> = {
  ownership: RESERVATION_OWNERSHIP,
  layers: [{ fieldManager: FIELD_MANAGER, partOf: ({ metadata: { labels }, spec }) => ({ labels, spec }) }],
};

/** Plans the view of the reservation of this name, or the end of the view. */
export function planReservationView(state: ReservationState): ReservationStep {
  return stepFor("show", state.views ? viewWrite(state) : undefined);
}

function viewWrite(state: ReservationState): ReservationWrite | undefined {
  const { object, ledger, name, namespace, hasRequest } = state;
  const reservation = ledger.reservations.get(name);
  if (object?.metadata.deletionTimestamp !== undefined) {
    // Deleting a view releases nothing. Its finalizer comes from a request that somebody labelled as a view.
    return hasFinalizer(object) ? removeFinalizer(object) : undefined;
  }
  if (reservation === undefined) return object && unknownWrite(object, state);
  if (hasRequest) return object && { kind: "delete" };
  const desired = desiredReservation(reservation, namespace);
  if (object === undefined) return { kind: "create", desired };
  // The request in a spec is immutable, so the object must be deleted and created again.
  if (canonical(desired.spec) !== canonical(object.spec)) return { kind: "delete" };
  return planView({ desired, status: reservationStatus(reservation, state, object) }, object, VIEW);
}

/** The ledger does not know the reservation: it ended and was forgotten, or the view is of another ledger. */
function unknownWrite(object: ReservationObject, state: ReservationState): ReservationWrite | undefined {
  if (state.isForgotten || isForgotten(object, state.ledgerId)) return { kind: "delete" };
  return statusWrite(orphanedStatus(object, state), object, RESERVATION_OWNERSHIP);
}

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
function isView({ metadata, spec, status }: ReservationObject): boolean {
  const label = metadata.labels?.[KUBE_LABEL.view];
  if (label !== undefined) return label === "true";
  return spec.key === undefined && status?.reservationID === metadata.name;
}

/**
 * True if the object shows a reservation, or has to: it is a view; it has no label and no status but the name of a reservation,
 * so it is an unfinished view or blocks the name; or the ledger imported it from an older broker.
 */
export function isBrokersObject({
  object,
  ledger,
}: { readonly object: ReservationObject } & Pick<ReservationState, "ledger">): boolean {
  const named = ledger.reservations.get(object.metadata.name);
  const blocksName =
    named !== undefined && identify(object).origin === "person" && !isDecided(object) && !isWaiting(object);
  return isView(object) || blocksName || isImported(object, named);
}

/** True if the reservation ended in this ledger: the ledger forgets only ended reservations. */
function isForgotten({ status }: ReservationObject, ledgerId: string): boolean {
  const phase: Phase | undefined = status?.phase;
  if (phase === undefined || !isFinal(phase)) return false;
  // An orphan carries the ID of the ledger that does not know it.
  return status?.ledgerID === ledgerId && !isTrue(status.conditions, RESERVATION_CONDITION.orphaned);
}
