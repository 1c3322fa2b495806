import type { HistoryWindow } from "@resource-broker/contract";

/** How long a window is, and in how many pieces: hour, day and week, each in its own grain. */
export interface WindowShape {
  readonly stepMs: number;
  readonly length: number;
}

export const WINDOWS: Readonly<Record<HistoryWindow, WindowShape>> = {
  hour: { stepMs: 10_000, length: 360 },
  day: { stepMs: 300_000, length: 288 },
  week: { stepMs: 3_600_000, length: 168 },
};

export const WINDOW_NAMES: readonly HistoryWindow[] = ["hour", "day", "week"];

export function lengthMs({ stepMs, length }: WindowShape): number {
  return stepMs * length;
}
