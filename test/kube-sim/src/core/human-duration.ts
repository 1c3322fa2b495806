const [SECOND, MINUTE, HOUR, DAY, YEAR] = [1000, 60_000, 3_600_000, 86_400_000, 365 * 86_400_000];
const LETTERS: ReadonlyMap<number, string> = new Map([
  [SECOND, "s"],
  [MINUTE, "m"],
  [HOUR, "h"],
  [DAY, "d"],
  [YEAR, "y"],
]);

/** The longer ago, the coarser; never more than two units. */
const SCALES: readonly (readonly [below: number, unit: number, rest?: number])[] = [
  [2 * MINUTE, SECOND],
  [10 * MINUTE, MINUTE, SECOND],
  [3 * HOUR, MINUTE],
  [8 * HOUR, HOUR, MINUTE],
  [2 * DAY, HOUR],
  [8 * DAY, DAY, HOUR],
  [2 * YEAR, DAY],
  [8 * YEAR, YEAR, DAY],
  [Number.POSITIVE_INFINITY, YEAR],
];

/** A span of time as kubectl shows ages: 90s, 4m20s, 47h, 3d5h. */
export function humanDuration(ms: number): string {
  if (ms < -2 * SECOND) return "<invalid>";
  const span = Math.max(0, ms);
  const [, unit = YEAR, rest] = SCALES.find(([below]) => span < below) ?? [];
  const left = rest === undefined ? 0 : Math.floor((span % unit) / rest);
  const whole = `${Math.floor(span / unit)}${LETTERS.get(unit)}`;
  return rest === undefined || left === 0 ? whole : `${whole}${left}${LETTERS.get(rest)}`;
}

/** The age of what happened at a time written in RFC 3339. */
export function ageOf(time: string, nowMs: number): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? "<unknown>" : humanDuration(nowMs - at);
}
