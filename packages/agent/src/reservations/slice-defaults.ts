import type { ReservationDTO, SliceDefaults } from "@resource-broker/contract";
import { parseAmount } from "@resource-broker/domain";

/** The reservation with these slice defaults. */
export function withSliceDefaults(
  reservation: ReservationDTO,
  sliceDefaults: SliceDefaults | undefined,
): ReservationDTO {
  if (reservation.sliceDefaults === undefined && sliceDefaults === undefined) return reservation;
  const { sliceDefaults: _, ...others } = reservation;
  return sliceDefaults === undefined ? others : { ...others, sliceDefaults };
}

/** The reservation as its instruction can show it: slice defaults of an existing instruction are immutable. */
export function withWrittenDefaults(
  reservation: ReservationDTO,
  instruction: { readonly spec: { readonly sliceDefaults?: SliceDefaults } } | undefined,
): ReservationDTO {
  return instruction === undefined
    ? reservation
    : withSliceDefaults(reservation, instruction.spec.sliceDefaults);
}

/** False: a provider could not parse it, and would grant none of it. */
export function isCountable({ ephemeralStorage }: SliceDefaults): boolean {
  const parsed = parseAmount(ephemeralStorage, { unit: "one", rounding: "down" });
  return parsed.ok && parsed.amount > 0;
}
