import {
  ADOPTION_WINDOW_MS,
  type AdoptionWindow,
  isAdoptionOpen,
  MAX_ADOPTION_WINDOW_MS,
} from "./adoption-window.ts";
import type { Instant } from "../reservation/ids.ts";
import { type DecisionContext, type Outcome, rejected, type SetAdoptionWindow } from "./command.ts";
import type { LedgerView } from "./ledger.ts";

export function decideAdoptionWindow(
  ledger: LedgerView,
  command: SetAdoptionWindow,
  { now }: DecisionContext,
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
