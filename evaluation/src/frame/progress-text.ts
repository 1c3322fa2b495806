const BAR = 24;

export interface ProgressState {
  /** Of the whole run, from 0 to 1. */
  readonly share: number;
  readonly secondsLeft: number;
  /** `1a Broker CPU`. */
  readonly test: string;
  readonly doing: string;
}

/** `[██████──────────] 37 %, about 12 min left · 1a Broker CPU: 20 agents`, cut to the width of the terminal. */
export function progressLine({ share, secondsLeft, test, doing }: ProgressState, columns: number): string {
  const full = Math.round(BAR * Math.min(1, Math.max(0, share)));
  const bar = `[${"█".repeat(full)}${"─".repeat(BAR - full)}]`;
  const percent = `${Math.floor(100 * share)} %`.padStart(5);
  return `${bar}${percent}, ${durationText(secondsLeft)} left · ${test}: ${doing}`.slice(0, columns - 1);
}

/** `about 12 min`, `about 40 s`, `a moment`. */
export function durationText(seconds: number): string {
  if (seconds < 10) return "a moment";
  if (seconds < 90) return `about ${10 * Math.ceil(seconds / 10)} s`;
  return `about ${Math.round(seconds / 60)} min`;
}

/** Where a run stands, in the seconds that its parts were expected to take. */
export interface RunTiming {
  readonly expectedDone: number;
  readonly expectedLeft: number;
  readonly elapsed: number;
}

/** As slow as it was so far it will go on; at the beginning nothing is known of that. */
export function secondsLeft({ expectedDone, expectedLeft, elapsed }: RunTiming): number {
  const known = Math.min(1, expectedDone / 20);
  const slowdown = expectedDone === 0 ? 1 : Math.min(4, Math.max(0.5, elapsed / expectedDone));
  return expectedLeft * (1 + known * (slowdown - 1));
}
