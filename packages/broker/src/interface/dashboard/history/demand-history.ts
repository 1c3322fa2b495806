import { formatTime, type HistoryWindow, type UiUnmet } from "@resource-broker/contract";
import type { Instant, LedgerEvent } from "@resource-broker/domain";
import { UNMET_REASONS, unmetReason } from "../../../metrics/unmet-demand.ts";
import { Series } from "./series.ts";
import { WINDOWS } from "./windows.ts";

const GRANTED = 0;
/** First what was granted, then what was refused, by reason. */
const WIDTH = 1 + UNMET_REASONS.length;

/** Granted and refused requests over time, refusals by reason. */
export class DemandHistory {
  readonly series = new Series(WIDTH);

  add(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      if (event.kind === "granted") this.series.count(event.at, GRANTED);
      else if (event.kind === "refused") this.series.count(event.at, columnOf(event));
    }
  }

  /** Distinguishes 'no requests' from 'not recorded'. */
  touch(now: Instant): void {
    this.series.touch(now);
  }

  read(window: HistoryWindow, now: Instant): UiUnmet {
    const { stepMs, length } = WINDOWS[window];
    const slots = this.series.read(window, now);
    const column = (index: number): number[] => slots.map((values) => values?.[index] ?? 0);
    const refused = UNMET_REASONS.map((reason, index) => ({ reason, counts: column(1 + index) }));
    return {
      window,
      from: formatTime((Math.floor(now / stepMs) - length + 1) * stepMs),
      stepMs,
      granted: column(GRANTED),
      refused: refused.filter(({ counts }) => counts.some((count) => count > 0)),
    };
  }
}

function columnOf({ decision }: Extract<LedgerEvent, { kind: "refused" }>): number {
  return 1 + Math.max(0, UNMET_REASONS.indexOf(unmetReason(decision)));
}
