export type DurationResult =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly problem: string };

/** Longer than any sensible duration, and it bounds the work. */
export const DURATION_MAX_LENGTH = 64;
/** Go keeps durations in 63 bits of nanoseconds: a Go peer cannot read longer ones. */
const MAX_NANOS = 2n ** 63n - 1n;
const NANOS_PER_MS = 1_000_000n;

const NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, micro sign
  μs: 1_000n, // U+03BC, Greek letter mu
  ms: NANOS_PER_MS,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const UNIT = "(?:ns|us|µs|μs|ms|s|m|h)";
const TERM = `(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)${UNIT}`;
/** The shape of a duration. It reads the same in JavaScript, JSON Schema and Go. */
export const DURATION_PATTERN = `^\\+?(?:0|(?:${TERM})+)$`;
/** The same with at least one digit that is not zero. */
const NON_ZERO_TERM = `(?:[0-9]*[1-9][0-9]*(?:\\.[0-9]*)?|[0-9]*\\.[0-9]*[1-9][0-9]*)${UNIT}`;
export const POSITIVE_DURATION_PATTERN = `^\\+?(?:${TERM})*${NON_ZERO_TERM}(?:${TERM})*$`;

const SHAPE = new RegExp(DURATION_PATTERN, "u");
const TERMS = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/gu;

/** Reads a duration as Go does, exactly, in whole milliseconds: what is finer is rounded up, so nothing ends early. */
export function parseDuration(text: string): DurationResult {
  if (text.length > DURATION_MAX_LENGTH) return refused(text);
  if (text.startsWith("-"))
    return { ok: false, problem: `${quoted(text)} is negative; write for example 1h30m` };
  if (!SHAPE.test(text)) return refused(text);
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(TERMS)) {
    nanos += termNanos(whole, fraction, NANOS[unit] ?? 0n);
  }
  if (nanos > MAX_NANOS) return { ok: false, problem: `${quoted(text)} is too long; the most is 2562047h` };
  return { ok: true, ms: Number((nanos + NANOS_PER_MS - 1n) / NANOS_PER_MS) };
}

/** Writes a duration as people write it: `1h30m`, `45s`, `1.5s`. */
export function formatDuration(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = (ms % 60_000) / 1000;
  const parts = [
    hours > 0 ? `${hours}h` : "",
    minutes > 0 ? `${minutes}m` : "",
    seconds > 0 ? `${seconds}s` : "",
  ];
  return parts.join("") || "0s";
}

function termNanos(whole: string, fraction: string, unit: bigint): bigint {
  const scaled = BigInt(whole + fraction || "0") * unit;
  return scaled / 10n ** BigInt(fraction.length);
}

function refused(text: string): DurationResult {
  return { ok: false, problem: `${quoted(text)} is not a duration; write for example 90s, 15m or 1h30m` };
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, DURATION_MAX_LENGTH));
}
