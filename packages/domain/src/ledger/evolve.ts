import { totalPrice } from "../cost/price.ts";
import type { Instant } from "../reservation/ids.ts";
import { type LifecycleEvent, nextPhase } from "../reservation/lifecycle.ts";
import type { Reservation } from "../reservation/reservation.ts";
import type { LedgerEvent } from "./event.ts";

/** Retention of ended reservations and of their keys. */
export const ENDED_RETENTION_MS = 24 * 60 * 60 * 1000;

/** Events that change one reservation. */
export type ReservationEvent = Extract<
  LedgerEvent,
  { readonly kind: "activated" | "renewed" | "acknowledged" | "ended" | "retained" }
>;

/** The reservation after the event. Throws where the lifecycle forbids it: `decide` never emits such an event. */
export function evolve(reservation: Reservation, event: ReservationEvent): Reservation {
  switch (event.kind) {
    case "activated":
      return { ...advance(reservation, "activate"), activatedAt: event.at };
    case "renewed":
      return {
        ...advance(reservation, "renew"),
        expiresAt: event.expiresAt,
        ...renewedCost(reservation, event),
      };
    case "acknowledged":
      return { ...advance(reservation, "acknowledge"), acknowledged: true };
    case "ended":
      return {
        ...advance(reservation, event.reason),
        reason: event.reason,
        ...(event.message === undefined ? {} : { message: event.message }),
        endedAt: event.at,
        keepUntil: event.at + ENDED_RETENTION_MS,
      };
    case "retained":
      return { ...reservation, keepUntil: event.until };
  }
}

/** The total cost after a renewal. */
function renewedCost({ cost, reservedAt }: Reservation, { expiresAt }: { readonly expiresAt: Instant }) {
  if (cost === undefined) return {};
  return { cost: { ...cost, total: totalPrice(cost.perHour, expiresAt - reservedAt) } };
}

/** The next deadline of this reservation, if any. */
export function deadlineOf(reservation: Reservation): Instant | undefined {
  if (reservation.keepUntil !== undefined) return reservation.keepUntil;
  const activateBy = reservation.phase === "Reserved" ? reservation.activateBy : undefined;
  if (activateBy === undefined) return reservation.expiresAt;
  return Math.min(activateBy, reservation.expiresAt ?? activateBy);
}

function advance(reservation: Reservation, event: LifecycleEvent): Reservation {
  const phase = nextPhase(reservation.phase, event);
  if (phase === undefined) throw new Error(`${reservation.id} is ${reservation.phase}: cannot ${event}`);
  return { ...reservation, phase, generation: reservation.generation + 1 };
}
