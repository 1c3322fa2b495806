import type { Instant, ReservationId } from "../reservation/ids.ts";

/**
 * Waiting requests, and reservations under notice or not activated yet, that were read at a start: none of them times out or
 * ends before this time, because their clusters have to speak first.
 */
export interface Spared {
  readonly ids: ReadonlySet<ReservationId>;
  readonly until: Instant;
}

export const NOTHING_SPARED: Spared = /* @__PURE__ */ Object.freeze({ ids: new Set<never>(), until: 0 });

/** The time before which this one neither times out nor ends after a notice. */
export function sparedUntil({ spared }: { readonly spared: Spared }, id: ReservationId): Instant {
  return spared.ids.has(id) ? spared.until : Number.NEGATIVE_INFINITY;
}
