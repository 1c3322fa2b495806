import type { ReservationDTO, SliceDefaults } from "@resource-broker/contract";
import { parseAmount } from "@resource-broker/domain";

/** The idempotency key of one attempt of one ResourceRequest: a repeated call reserves nothing new. */
export function attemptKey(uid: string, attempt: number): string {
  return `${uid}-${attempt}`;
}

const ATTEMPT_KEY = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-([1-9][0-9]{0,8})$/;

export interface Attempt {
  readonly uid: string;
  readonly attempt: number;
}

/** The UID and attempt of a key; undefined for keys of others. */
export function attemptOf(key: string | undefined): Attempt | undefined {
  const [, uid, attempt] = ATTEMPT_KEY.exec(key ?? "") ?? [];
  return uid === undefined ? undefined : { uid, attempt: Number(attempt) };
}

/** Brokers without keys do not return them; the agent needs them to find the request. */
export function withKey(reservation: ReservationDTO, key: string | undefined): ReservationDTO {
  return reservation.key !== undefined || key === undefined ? reservation : { ...reservation, key };
}

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
