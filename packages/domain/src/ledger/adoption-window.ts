import type { ClusterId, Instant } from "../reservation/ids.ts";
import { type Moment, type Outcome, rejected, type SetAdoptionWindow } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

/** After its memory began, a ledger adopts for this long: agents that are down for a night still find it open. */
export const ADOPTION_WINDOW_MS = 24 * 60 * 60 * 1000;
/** The longest window an admin can open at once. */
export const MAX_ADOPTION_WINDOW_MS = 7 * ADOPTION_WINDOW_MS;

/** `created`: the ledger was made empty. `restored`: from a backup. `re-identified`: it lost commits. */
export const ADOPTION_CAUSES = ["created", "restored", "re-identified", "opened", "closed"] as const;
export type AdoptionCause = (typeof ADOPTION_CAUSES)[number];

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
  cause: Extract<AdoptionCause, "created" | "restored" | "re-identified">,
): AdoptionWindow {
  return { since: now, until: now + ADOPTION_WINDOW_MS, cause };
}

export function isAdoptionOpen({ adoption }: Pick<LedgerView, "adoption">, now: Instant): boolean {
  return adoption !== undefined && now < adoption.until;
}

export function decideAdoptionWindow(
  ledger: LedgerView,
  command: SetAdoptionWindow,
  { now }: Moment,
): Outcome {
  const { by } = command;
  if (!by.isAdmin) return rejected("forbidden", "only an admin may open or close adoption");
  if (command.kind === "close-adoption") {
    if (!isAdoptionOpen(ledger, now)) return { events: [], reply: { kind: "adoption-window-set" } };
    return set({ since: ledger.adoption?.since ?? now, until: now, cause: "closed", by: by.clusterId }, now);
  }
  const { durationMs } = command;
  if (!Number.isSafeInteger(durationMs) || durationMs <= 0 || durationMs > MAX_ADOPTION_WINDOW_MS) {
    const days = MAX_ADOPTION_WINDOW_MS / ADOPTION_WINDOW_MS;
    return rejected("invalid", `adoption can be open for more than 0 s and at most ${days} days (168h)`);
  }
  return set({ since: now, until: now + durationMs, cause: "opened", by: by.clusterId }, now);
}

function set(window: AdoptionWindow, at: Instant): Outcome {
  return {
    events: [{ kind: "adoption-window-set", at, window }],
    reply: { kind: "adoption-window-set", window },
  };
}
