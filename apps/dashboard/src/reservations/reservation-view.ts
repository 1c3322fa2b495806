import { resourceTitle } from "@resource-broker/base";
import type { ReservationDTO, TimelineDTO } from "@resource-broker/contract";
import { type Amounts, amountText, NAMES, percent } from "../format/amounts.ts";
import { rateText } from "../format/money.ts";
import { localized } from "../format/sentence.ts";
import { clockText, spanText } from "../format/time.ts";
import type { Tone } from "../parts/chips.tsx";
import type { IconName } from "../parts/icons.tsx";

type Phase = ReservationDTO["status"]["phase"];

export const PHASES: Readonly<Record<Phase, { readonly tone: Tone; readonly icon?: IconName }>> = {
  Pending: { tone: "busy" },
  Reserved: { tone: "busy", icon: "pause" },
  Active: { tone: "good" },
  Released: { tone: "calm" },
  Failed: { tone: "bad" },
};

export function isLive({ status: { phase } }: ReservationDTO): boolean {
  return phase === "Reserved" || phase === "Active";
}

/** "ReleasedByRequester" as people say it. */
export function reasonText(reason = ""): string {
  const words = reason.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** When it ends by itself: by its notice, or when it expires. Undefined: when it is released. */
export function endsAt({ preempting, status }: ReservationDTO): string | undefined {
  const times = [preempting?.at, status.expiresAt].filter((time) => time !== undefined);
  return times.toSorted((one, other) => Date.parse(one) - Date.parse(other))[0];
}

export function costText({ cost }: ReservationDTO): string | null {
  return cost === undefined ? null : rateText(Number(cost.perHour), cost.currency);
}

export type StepState = "done" | "current" | "waiting" | "skipped";

/** Steps that were reached, the one that is waited for, and those that will never come. */
export function timelineView({ steps, reservation }: Pick<TimelineDTO, "steps" | "reservation">) {
  const hasEnded = !isLive(reservation);
  const waitingAt = steps.findIndex(({ at }) => at === undefined);
  let beforeMs: number | undefined;
  return steps.map(({ step, at, text }, index) => {
    const atMs = at === undefined ? undefined : Date.parse(at);
    // Since the step before: "+120 ms".
    const since = atMs === undefined || beforeMs === undefined ? "" : laterBy(atMs - beforeMs);
    beforeMs = atMs ?? beforeMs;
    const missing = hasEnded ? "skipped" : index === waitingAt ? "current" : "waiting";
    const state: StepState = at === undefined ? missing : "done";
    return {
      step,
      state,
      at: atMs === undefined ? "" : clockText(atMs),
      since,
      text: localized(text),
    };
  });
}

/** Nothing to say for what happened in the same moment. */
function laterBy(ms: number): string {
  if (ms < 1) return "";
  return ms < 1000 ? `+${Math.round(ms)} ms` : `+${spanText(ms)}`;
}

/** What was granted, and how much of it the guest's pods ask for; `share` may be more than 1, or null: nobody has said. */
export function usageViews(granted: Amounts, used?: Amounts) {
  const isShown = (name: (typeof NAMES)[number]): boolean =>
    (granted[name] ?? 0) > 0 || (used?.[name] ?? 0) > 0;
  return NAMES.filter(isShown).map((name) => {
    const all = granted[name] ?? 0;
    const held = amountText(name, all);
    const title = resourceTitle(name);
    if (used === undefined) return { title, share: null, text: `${held} held; use not reported` };
    const part = used[name] ?? 0;
    const share = all === 0 ? 1 : part / all;
    return { title, share, text: `${amountText(name, part)} of ${held} used (${percent(share)})` };
  });
}
