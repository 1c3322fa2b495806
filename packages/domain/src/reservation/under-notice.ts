import type { Instant } from "./ids.ts";
import { isLive } from "./lifecycle.ts";
import type { PreemptionNotice, Reservation } from "./reservation.ts";

/** The reservation under notice, or no longer. Its agents are told: a generation for each. */
export function withNotice(reservation: Reservation, preemption: PreemptionNotice | undefined): Reservation {
  const { id, phase, generation } = reservation;
  if (!isLive(phase)) throw new Error(`${id} is ${phase}: it can get no notice, and none is withdrawn`);
  const { preemption: _, ...rest } = reservation;
  const notice = preemption === undefined ? {} : { preemption };
  return { ...rest, ...notice, generation: generation + 1 };
}

/** The next deadline of this reservation, if any. */
export function deadlineOf(reservation: Reservation): Instant | undefined {
  const { phase, activateBy, expiresAt, preemption, keepUntil } = reservation;
  if (keepUntil !== undefined) return keepUntil;
  const times = [phase === "Reserved" ? activateBy : undefined, expiresAt, preemption?.at];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
