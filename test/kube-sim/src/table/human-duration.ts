const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Scale {
  /** Used below this. */
  readonly below: number;
  readonly unit: number;
  readonly letter: string;
  /** The smaller unit shown beside it. */
  readonly rest?: { readonly unit: number; readonly letter: string };
}

/** The longer ago, the coarser; never more than two units. */
const SCALES: readonly Scale[] = [
  { below: 2 * MINUTE, unit: SECOND, letter: "s" },
  { below: 10 * MINUTE, unit: MINUTE, letter: "m", rest: { unit: SECOND, letter: "s" } },
  { below: 3 * HOUR, unit: MINUTE, letter: "m" },
  { below: 8 * HOUR, unit: HOUR, letter: "h", rest: { unit: MINUTE, letter: "m" } },
  { below: 2 * DAY, unit: HOUR, letter: "h" },
  { below: 8 * DAY, unit: DAY, letter: "d", rest: { unit: HOUR, letter: "h" } },
  { below: 2 * YEAR, unit: DAY, letter: "d" },
  { below: 8 * YEAR, unit: YEAR, letter: "y", rest: { unit: DAY, letter: "d" } },
  { below: Number.POSITIVE_INFINITY, unit: YEAR, letter: "y" },
];

/** A span of time as kubectl shows ages: 90s, 4m20s, 47h, 3d5h. */
export function humanDuration(ms: number): string {
  if (ms < -2 * SECOND) return "<invalid>";
  const span = Math.max(0, ms);
  const scale = SCALES.find(({ below }) => span < below);
  if (scale === undefined) return "<unknown>";
  const { unit, letter, rest } = scale;
  const count = Math.floor(span / unit);
  const left = rest === undefined ? 0 : Math.floor((span % unit) / rest.unit);
  return `${count}${letter}${left === 0 || rest === undefined ? "" : `${left}${rest.letter}`}`;
}

/** The age of what happened at a time written in RFC 3339. */
export function ageOf(time: string, nowMs: number): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? "<unknown>" : humanDuration(nowMs - at);
}
