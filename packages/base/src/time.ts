/** `2026-07-01T10:00:00.123456789+02:00` has 35 characters. */
export const TIME_MAX_LENGTH = 35;

const DATE = "([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const HOURS = "([01][0-9]|2[0-3])";
const SIXTY = "([0-5][0-9])";
const SHAPE = new RegExp(
  `^${DATE}T${HOURS}:${SIXTY}:${SIXTY}(?:\\.([0-9]{1,9}))?(?:Z|([+-])${HOURS}:${SIXTY})$`,
);
const MS_PER_MINUTE = 60_000;
/** RFC 3339 has the years 0000 to 9999 only; beyond them a JavaScript date is written in a way no peer can read. */
const MIN_MS = -62_167_219_200_000;
const MAX_MS = 253_402_300_799_999;

/** Reads an RFC 3339 time in milliseconds since 1970; finer digits are cut off. Undefined: not such a time. */
export function parseTime(text: string): number | undefined {
  const parts = text.length > TIME_MAX_LENGTH ? null : SHAPE.exec(text);
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = "", sign, offsetHours, offsetMinutes] = parts;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // 30 February has become 2 March.
  if (date.getUTCDate() !== Number(day)) return undefined;
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, "0").slice(0, 3)));
  if (sign === undefined) return date.getTime();
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MS_PER_MINUTE;
  return sign === "+" ? date.getTime() - offset : date.getTime() + offset;
}

/** Writes an instant as RFC 3339 in UTC with milliseconds. */
export function formatTime(ms: number): string {
  return new Date(Math.min(Math.max(ms, MIN_MS), MAX_MS)).toISOString();
}
