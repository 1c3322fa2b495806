import type { ClusterId, Instant } from "../reservation/ids.ts";

/** After its memory began, a ledger adopts for this long: agents that are down for a night still find it open. */
export const ADOPTION_WINDOW_MS = 24 * 60 * 60 * 1000;
/** The longest window an admin can open at once. */
export const MAX_ADOPTION_WINDOW_MS = 7 * ADOPTION_WINDOW_MS;

/** `created`: the ledger was made empty. `restored`: from a backup. The others: an admin did so. */
type AdoptionCause = "created" | "restored" | "opened" | "closed";

/** Which holds may be adopted: those made before `since`, until `until`. */
export interface AdoptionWindow {
  readonly since: Instant;
  readonly until: Instant;
  readonly cause: AdoptionCause;
  /** The admin who opened or closed it. */
  readonly by?: ClusterId;
}

/** The window of a ledger whose memory begins now. */
export function windowFrom(
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
