import type { ReservationDTO } from "@resource-broker/contract";

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
