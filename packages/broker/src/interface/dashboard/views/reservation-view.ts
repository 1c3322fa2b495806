import { formatTime } from "@resource-broker/base";
import type { UiMoney, UiReservation } from "@resource-broker/contract/dashboard";
import type { Instant, Reservation } from "@resource-broker/domain";
import { amountsOf } from "./amounts.ts";

export function reservationView(reservation: Reservation): UiReservation {
  const { cost } = reservation;
  return {
    id: reservation.id,
    requester: reservation.requester,
    provider: reservation.provider,
    amounts: amountsOf(reservation.granted),
    phase: reservation.phase,
    reason: reservation.reason ?? null,
    createdAt: formatTime(reservation.createdAt),
    expiresAt: timeOf(reservation.expiresAt),
    endedAt: timeOf(reservation.endedAt),
    costPerHour: cost === undefined ? null : { amount: cost.perHour, currency: cost.currency },
    priority: reservation.request.priority,
  };
}

const HOUR_MS = 3_600_000;

/** For the time that it has held so far, or held in all. */
export function costSoFar({ cost, reservedAt, endedAt }: Reservation, now: Instant): UiMoney | null {
  if (cost === undefined) return null;
  const heldMs = Math.max(0, (endedAt ?? now) - reservedAt);
  return { amount: (cost.perHour * heldMs) / HOUR_MS, currency: cost.currency };
}

export function timeOf(at: Instant | undefined): string | null {
  return at === undefined ? null : formatTime(at);
}
