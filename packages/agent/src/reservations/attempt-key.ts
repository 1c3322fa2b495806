import type { ReservationDTO } from "@resource-broker/contract";

/** The idempotency key of one attempt of one ResourceRequest: the same object asking again books nothing new. */
export function attemptKey(uid: string, attempt: number): string {
  return `${uid}-${attempt}`;
}

const ATTEMPT_KEY = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-([1-9][0-9]{0,8})$/;

export interface Attempt {
  readonly uid: string;
  readonly attempt: number;
}

/** The ResourceRequest and the attempt that a key was made for; undefined for keys of others. */
export function attemptOf(key: string | undefined): Attempt | undefined {
  const [, uid, attempt] = ATTEMPT_KEY.exec(key ?? "") ?? [];
  return uid === undefined ? undefined : { uid, attempt: Number(attempt) };
}

/** Brokers that know no keys do not repeat them; here they are what ties a reservation to its request. */
export function withKey(reservation: ReservationDTO, key: string | undefined): ReservationDTO {
  return reservation.key !== undefined || key === undefined ? reservation : { ...reservation, key };
}
