import type { ReservationDTO, SliceDefaults } from "@resource-broker/contract";
import { parseAmount } from "@resource-broker/domain";

/** A reservation with these slice defaults, whatever it was told with. */
export function withSliceDefaults(
  reservation: ReservationDTO,
  sliceDefaults: SliceDefaults | undefined,
): ReservationDTO {
  if (reservation.sliceDefaults === undefined && sliceDefaults === undefined) return reservation;
  const { sliceDefaults: _, ...others } = reservation;
  return sliceDefaults === undefined ? others : { ...others, sliceDefaults };
}

/** A reservation as its instruction can tell it: the API server lets nobody change the slice defaults of one that is there. */
export function asWritten(
  reservation: ReservationDTO,
  instruction: { readonly spec: { readonly sliceDefaults?: SliceDefaults } } | undefined,
): ReservationDTO {
  return instruction === undefined
    ? reservation
    : withSliceDefaults(reservation, instruction.spec.sliceDefaults);
}

/** False: a lender could not count it, and would grant none of it. */
export function isCountable({ ephemeralStorage }: SliceDefaults): boolean {
  const parsed = parseAmount(ephemeralStorage, { unit: "one", rounding: "down" });
  return parsed.ok && parsed.amount > 0;
}
