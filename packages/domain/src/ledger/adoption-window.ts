import type { ResourceVector } from "@resource-broker/base";
import type { ClusterId, Instant, ReservationId } from "../reservation/ids.ts";
import type { Phase } from "../reservation/lifecycle.ts";

/** A new or restored ledger adopts for this long, so that agents that were down for a night can still report. */
export const ADOPTION_WINDOW_MS = 24 * 60 * 60 * 1000;
/** The longest window an admin can open at once. */
export const MAX_ADOPTION_WINDOW_MS = 7 * ADOPTION_WINDOW_MS;

/** `created`: the ledger was made empty. `restored`: from a backup. The others: an admin did so. */
type AdoptionCause = "created" | "restored" | "opened" | "closed";

/** Reservations created before `since` may be adopted until `until`. */
export interface AdoptionWindow {
  readonly since: Instant;
  readonly until: Instant;
  readonly cause: AdoptionCause;
  /** The admin who opened or closed it. */
  readonly by?: ClusterId;
}

/** The adoption window of a ledger that is created or restored now. */
export function initialAdoptionWindow(
  now: Instant,
  cause: Extract<AdoptionCause, "created" | "restored">,
): AdoptionWindow {
  return { since: now, until: now + ADOPTION_WINDOW_MS, cause };
}

export function isAdoptionOpen(
  { adoption }: { readonly adoption?: AdoptionWindow | undefined },
  now: Instant,
): boolean {
  return adoption !== undefined && now < adoption.until;
}

/** A reservation as one of its parties reports it for adoption. */
export interface AdoptionOffer {
  readonly id: ReservationId;
  readonly requester: ClusterId;
  readonly provider: ClusterId;
  readonly granted: ResourceVector;
  readonly phase: Extract<Phase, "Reserved" | "Active">;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly expiresAt?: Instant;
  readonly key?: string;
}
