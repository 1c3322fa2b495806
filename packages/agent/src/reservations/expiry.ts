import { parseTime } from "@resource-broker/base";
import type { Instant } from "@resource-broker/domain";
import type { CachedReservation } from "./reservation-cache.ts";

/** How long after its expiry a reservation is kept while the broker cannot be asked about a renewal. */
export const GRACE_MS = 60_000;

export interface BrokerView {
  /** The broker's time. Undefined: it has not answered yet, and the local clock may be wrong. */
  readonly now: Instant | undefined;
  /** True when the broker has not answered for a while: it cannot report an end. */
  readonly isSilent: boolean;
  /** True: an older broker, which has no renewals and may not report ends. */
  readonly isOlder?: boolean;
}

export type Expiry =
  | { readonly kind: "none" }
  | { readonly kind: "later"; readonly inMs: number }
  | { readonly kind: "over" };

/** Timers are limited to 24 days; an hourly check costs little. */
const MAX_REQUEUE_MS = 3_600_000;

/** A reservation ends when the broker says so. Its expiry counts only when the broker cannot be asked or does not know it. */
export function expiryOf({ reservation, syncState }: CachedReservation, view: BrokerView): Expiry {
  const { now, isSilent } = view;
  const { expiresAt } = reservation;
  const at = expiresAt === undefined ? undefined : parseTime(expiresAt);
  if (at === undefined) return { kind: "none" };
  if (now === undefined) return { kind: "later", inMs: GRACE_MS };
  // Only newer brokers have generations: without one, it cannot have been renewed.
  const isFixed = view.isOlder === true && reservation.generation === undefined;
  const inMs = at + (isFixed ? 0 : GRACE_MS) - now;
  if (inMs > 0) return { kind: "later", inMs: Math.min(inMs, MAX_REQUEUE_MS) };
  return isFixed || isSilent || syncState === "unknown"
    ? { kind: "over" }
    : { kind: "later", inMs: GRACE_MS };
}
