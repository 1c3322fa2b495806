import { parseTime } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { BookEntry } from "./reservation-book.ts";

/** How long after its time a reservation is kept while nobody can say whether it was renewed. */
export const GRACE_MS = 60_000;

export interface BrokerView {
  /** The broker's time. Undefined: it has not answered yet, and this machine's clock may be hours off. */
  readonly now: Instant | undefined;
  /** True when the broker has not answered for a while: it cannot say that something has ended. */
  readonly isSilent: boolean;
  /** True: an older broker answers. It renews nothing, and may not be able to say that something has ended. */
  readonly isOlder?: boolean;
}

export type Expiry =
  | { readonly kind: "none" }
  | { readonly kind: "later"; readonly inMs: number }
  | { readonly kind: "over" };

/** Timers cannot be set for longer than 24 days; and a look now and then costs nothing. */
const LONGEST_LOOK_MS = 3_600_000;

/** A reservation ends when the broker says so; only if it cannot say, or does not know it, its own time counts. */
export function expiryOf({ reservation, standing }: BookEntry, view: BrokerView): Expiry {
  const { now, isSilent } = view;
  const { expiresAt } = reservation.status;
  const at = expiresAt === undefined ? undefined : parseTime(expiresAt);
  if (at === undefined) return { kind: "none" };
  if (now === undefined) return { kind: "later", inMs: GRACE_MS };
  // Only newer brokers count generations: without one, nobody can have renewed it.
  const isFixed = view.isOlder === true && reservation.generation === undefined;
  const inMs = at + (isFixed ? 0 : GRACE_MS) - now;
  if (inMs > 0) return { kind: "later", inMs: Math.min(inMs, LONGEST_LOOK_MS) };
  return isFixed || isSilent || standing === "unknown" ? { kind: "over" } : { kind: "later", inMs: GRACE_MS };
}
