import type { Instant } from "./ids.ts";
import { isLive } from "./lifecycle.ts";
import type { NoticeCause, PreemptionNotice, Reservation } from "./reservation.ts";

/** The reservation under notice, or no longer. Its agents are told: a generation for each. */
export function withNotice(reservation: Reservation, preemption: PreemptionNotice | undefined): Reservation {
  const { id, phase, generation } = reservation;
  if (!isLive(phase)) throw new Error(`${id} is ${phase}: it can get no notice, and none is withdrawn`);
  const { preemption: _, ...rest } = reservation;
  const notice = preemption === undefined ? {} : { preemption };
  return { ...rest, ...notice, generation: generation + 1 };
}

export function noticeFor({ by, priority }: NoticeCause, at: Instant): PreemptionNotice {
  return by === undefined ? { at } : { by, priority, at };
}

/** Under notice because its provider is drained. */
export function isDrained({ phase, preemption }: Reservation): boolean {
  return isLive(phase) && preemption !== undefined && preemption.by === undefined;
}

/** The next deadline of this reservation, if any. Before `spare` no notice ends and no activation times out: after a start its agents must be heard first. */
export function deadlineOf(reservation: Reservation, spare = Number.NEGATIVE_INFINITY): Instant | undefined {
  const { phase, activateBy, expiresAt, preemption, keepUntil } = reservation;
  if (keepUntil !== undefined) return keepUntil;
  const times = [
    phase === "Reserved" && activateBy !== undefined ? Math.max(activateBy, spare) : undefined,
    expiresAt,
    preemption && Math.max(preemption.at, spare),
  ];
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
