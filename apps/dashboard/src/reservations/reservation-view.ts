import type {
  UiAmounts,
  UiPhase,
  UiReservation,
  UiReservationDetail,
} from "@resource-broker/contract/dashboard";
import { amountText, percent, RESOURCE_TITLES, RESOURCES } from "../format/amounts.ts";
import { rateText } from "../format/money.ts";
import { localized } from "../format/sentence.ts";
import { clockText, spanText } from "../format/time.ts";
import type { Tone } from "../parts/chips.tsx";
import type { IconName } from "../parts/icons.tsx";

const PHASES: Readonly<Record<UiPhase, { readonly tone: Tone; readonly icon?: IconName }>> = {
  Pending: { tone: "busy" },
  Reserved: { tone: "busy", icon: "pause" },
  Active: { tone: "good" },
  Released: { tone: "calm" },
  Failed: { tone: "bad" },
};

export function phaseStyle(phase: UiPhase): { readonly tone: Tone; readonly icon?: IconName } {
  return PHASES[phase];
}

export function isLive({ phase }: Pick<UiReservation, "phase">): boolean {
  return phase === "Pending" || phase === "Reserved" || phase === "Active";
}

/** "ReleasedByRequester" as people say it. */
export function reasonText(reason: string | null): string {
  if (reason === null || reason === "") return "";
  const words = reason.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

export function costText({ costPerHour }: Pick<UiReservation, "costPerHour">): string | null {
  return costPerHour === null ? null : rateText(costPerHour.amount, costPerHour.currency);
}

export type StepState = "done" | "current" | "waiting" | "skipped";

export interface StepView {
  readonly step: string;
  readonly state: StepState;
  /** Time of day, or nothing. */
  readonly at: string;
  /** Since the step before: "+120 ms". */
  readonly since: string;
  readonly text: string;
}

/** Steps that were reached, the one that is waited for, and those that will never come. */
export function timelineView({
  timeline,
  phase,
}: Pick<UiReservationDetail, "timeline" | "phase">): StepView[] {
  const hasEnded = !isLive({ phase });
  const waitingAt = timeline.findIndex(({ at }) => at === null);
  let beforeMs: number | undefined;
  return timeline.map(({ step, at, text }, index) => {
    const atMs = at === null ? undefined : Date.parse(at);
    const since = atMs === undefined || beforeMs === undefined ? "" : laterBy(atMs - beforeMs);
    beforeMs = atMs ?? beforeMs;
    return {
      step,
      state: stepState({ isReached: at !== null, hasEnded, isNext: index === waitingAt }),
      at: atMs === undefined ? "" : clockText(atMs),
      since,
      text: localized(text),
    };
  });
}

function stepState(step: {
  readonly isReached: boolean;
  readonly hasEnded: boolean;
  readonly isNext: boolean;
}): StepState {
  if (step.isReached) return "done";
  if (step.hasEnded) return "skipped";
  return step.isNext ? "current" : "waiting";
}

/** Nothing to say for what happened in the same moment. */
function laterBy(ms: number): string {
  if (ms < 1) return "";
  return ms < 1000 ? `+${Math.round(ms)} ms` : `+${spanText(ms)}`;
}

export interface UsageView {
  readonly title: string;
  readonly granted: string;
  readonly used: string | null;
  /** Null: nobody has said. May be more than 1. */
  readonly share: number | null;
  readonly text: string;
}

/** What was granted, and how much of it the guest's pods ask for. */
export function usageViews(granted: UiAmounts, used: UiAmounts | null): readonly UsageView[] {
  return RESOURCES.filter((resource) => granted[resource] > 0 || (used?.[resource] ?? 0) > 0).map(
    (resource) => {
      const [all, part] = [granted[resource], used?.[resource] ?? null];
      const share = part === null ? null : all === 0 ? 1 : part / all;
      const grantedText = amountText(resource, all);
      return {
        title: RESOURCE_TITLES[resource],
        granted: grantedText,
        used: part === null ? null : amountText(resource, part),
        share,
        text:
          part === null || share === null
            ? `${grantedText} held; use not reported`
            : `${amountText(resource, part)} of ${grantedText} used (${percent(share)})`,
      };
    },
  );
}
