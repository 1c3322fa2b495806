import { parseTime } from "@resource-broker/contract";
import type { Instant } from "@resource-broker/domain";
import type { BookEntry } from "./reservation-book.ts";

/** How long after its time a reservation is kept while nobody can say whether it was renewed. */
export const GRACE_MS = 60_000;

export interface BrokerView {
  /** The broker's time, or the best guess at it. */
  readonly now: Instant;
  /** True when the broker has not answered for a while: it cannot say that something has ended. */
  readonly isSilent: boolean;
}

export type Expiry =
  | { readonly kind: "none" }
  | { readonly kind: "later"; readonly inMs: number }
  | { readonly kind: "over" };

/** A reservation ends when the broker says so; only if it cannot say, or does not know it, its own time counts. */
export function expiryOf({ reservation, standing }: BookEntry, { now, isSilent }: BrokerView): Expiry {
  const { expiresAt } = reservation.status;
  const at = expiresAt === undefined ? undefined : parseTime(expiresAt);
  if (at === undefined) return { kind: "none" };
  const inMs = at + GRACE_MS - now;
  if (inMs > 0) return { kind: "later", inMs };
  return isSilent || standing === "unknown" ? { kind: "over" } : { kind: "later", inMs: GRACE_MS };
}
