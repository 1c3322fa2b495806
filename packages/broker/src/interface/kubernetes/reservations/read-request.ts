import {
  describeProblems,
  type Mapped,
  reservationRequestSchema,
  toAdoptionOffers,
  toReservationRequest,
  validate,
} from "@resource-broker/contract";
import { type Reservation, reservationKind } from "@resource-broker/contract/crd";
import type {
  AdoptionOffer,
  Reservation as Booked,
  ClusterId,
  ReservationRequest,
} from "@resource-broker/domain";

export type Reading<T> =
  | { readonly ok: true; readonly value: T }
  /** Everything that is wrong, in one line. */
  | { readonly ok: false; readonly problem: string };

/** What is asked for. The API server has checked it, but perhaps by an older definition. */
export function readRequest({ spec }: Reservation): Reading<ReservationRequest> {
  const checked = validate(reservationRequestSchema, spec);
  return read(checked.ok ? toReservationRequest(checked.value) : checked);
}

/** Removes a target that the broker itself filled in before a crash: the requester did not ask for it. */
export function withoutFilledTarget(
  request: ReservationRequest,
  existing: Booked | undefined,
): ReservationRequest {
  if (existing === undefined || request.target !== existing.provider) return request;
  const { target: _, ...asked } = request;
  return existing.request.target === undefined ? asked : request;
}

/** The offer of an object with the intent Adopt, and its sender. */
export function readOffer({ spec }: Reservation): Reading<{ by: ClusterId; offer: AdoptionOffer }> {
  const checked = validate(reservationKind.spec, spec);
  if (!checked.ok) return read(checked);
  const { offer: offered, requesterID, targetClusterID, requestedResources } = checked.value;
  if (offered === undefined || requestedResources === undefined || !requesterID || !targetClusterID) {
    return {
      ok: false,
      problem: "an offer names requesterID, targetClusterID, requestedResources and offer",
    };
  }
  const { by, ...reservation } = offered;
  const mapped = read(
    toAdoptionOffers({
      reservations: [{ ...reservation, requesterID, targetClusterID, requestedResources }],
    }),
  );
  if (!mapped.ok) return mapped;
  const [offer] = mapped.value;
  return offer === undefined
    ? { ok: false, problem: "nothing is offered" }
    : { ok: true, value: { by, offer } };
}

function read<T>(mapped: Mapped<T>): Reading<T> {
  return mapped.ok ? mapped : { ok: false, problem: describeProblems(mapped.problems) };
}
