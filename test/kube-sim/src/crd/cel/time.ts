import { failure, isFailure, type Value } from "./values.ts";

const SECOND = 1_000_000_000n;
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1000n],
  ["\u00b5s", 1000n],
  ["\u03bcs", 1000n],
  ["ms", 1_000_000n],
  ["s", SECOND],
  ["m", 60n * SECOND],
  ["h", 3600n * SECOND],
]);
const DURATION = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+)$/;
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g;
const LOOSE_PART = /(\d+)\s*([A-Za-z\u00b5]+)/g;
/** Longer units of the `duration` format, by how they begin. */
const LOOSE_UNITS: readonly (readonly [RegExp, bigint])[] = [
  [/^(ns|nano)/i, 1n],
  [/^(us|\u00b5s|micro)/i, 1000n],
  [/^(ms$|milli)/i, 1_000_000n],
  [/^(s$|sec)/i, SECOND],
  [/^(m$|min)/i, 60n * SECOND],
  [/^(h$|hr$|hour)/i, 3600n * SECOND],
  [/^(d$|day)/i, 86_400n * SECOND],
  [/^(w$|wk$|week)/i, 604_800n * SECOND],
];
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);
const FIRST_TIMESTAMP = -62_135_596_800n;
const LAST_TIMESTAMP = 253_402_300_799n;

/** As Go reads it: `1h30m`, `-1.5s`. */
export function parseDuration(text: string): Value {
  if (text === "0" || text === "+0" || text === "-0") return { kind: "duration", nanos: 0n };
  const found = DURATION.exec(text);
  const nanos = found === null ? undefined : signed(found[1], partsIn(found[2] ?? ""));
  if (nanos === undefined || nanos > LARGEST || nanos < SMALLEST) {
    return failure(`time: invalid duration ${JSON.stringify(text)}`);
  }
  return { kind: "duration", nanos };
}

/** The `duration` format of schemas takes words and days too: `2 days`. */
export function parseLooseDuration(text: string): Value {
  const exact = parseDuration(text);
  if (!isFailure(exact)) return exact;
  const parts = Array.from(text.matchAll(LOOSE_PART), ([, amount = "", unit = ""]) => {
    const factor = LOOSE_UNITS.find(([pattern]) => pattern.test(unit))?.[1];
    return factor === undefined ? undefined : BigInt(amount) * factor;
  }).filter((nanos) => nanos !== undefined);
  if (parts.length === 0) return failure(`Invalid duration ${text}: unable to parse ${text} as duration`);
  return { kind: "duration", nanos: parts.reduce((sum, nanos) => sum + nanos) };
}

export function parseDate(text: string): Value {
  const days = /^\d{4}-\d{2}-\d{2}$/.test(text) ? daysOf(text) : undefined;
  if (days === undefined) return failure(`Invalid date formatted string ${text}`);
  return { kind: "timestamp", nanos: days * 86_400n * SECOND };
}

/** RFC 3339. */
export function parseDateTime(text: string): Value {
  const found = DATE_TIME.exec(text);
  const seconds = found === null ? undefined : secondsOf(found);
  if (seconds === undefined || seconds < FIRST_TIMESTAMP || seconds > LAST_TIMESTAMP) {
    return failure(`Invalid date-time formatted string ${text}`);
  }
  const fraction = BigInt((found?.[5] ?? "").padEnd(9, "0").slice(0, 9));
  return { kind: "timestamp", nanos: seconds * SECOND + fraction };
}

/** As CEL writes it: `5400s`, `-0.5s`. */
export function durationText(nanos: bigint): string {
  const magnitude = nanos < 0n ? -nanos : nanos;
  return `${nanos < 0n ? "-" : ""}${magnitude / SECOND}${fractionText(magnitude % SECOND)}s`;
}

export function timestampText(nanos: bigint): string {
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  const date = dateAt((nanos - rest) / SECOND);
  return `${date.toISOString().slice(0, 19)}${fractionText(rest)}Z`;
}

/** A calendar date for the getters; the house's clock rule is about now, and this is not now. */
export function dateAt(seconds: bigint): Date {
  // oxlint-disable-next-line house/no-clock-constructor -- converts a given instant
  return new Date(Number(seconds) * 1000);
}

function fractionText(nanos: bigint): string {
  return nanos === 0n ? "" : `.${nanos.toString().padStart(9, "0").replace(/0+$/, "")}`;
}

function signed(sign: string | undefined, nanos: bigint): bigint {
  return sign === "-" ? -nanos : nanos;
}

function partsIn(text: string): bigint {
  let nanos = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of text.matchAll(DURATION_PART)) {
    const factor = UNITS.get(unit) ?? 0n;
    nanos += BigInt(whole === "" ? "0" : whole) * factor;
    if (fraction !== "") nanos += (BigInt(fraction) * factor) / 10n ** BigInt(fraction.length);
  }
  return nanos;
}

function daysOf(date: string): bigint | undefined {
  const millis = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(millis)) return undefined;
  // Date.parse lets 2024-02-30 slip into March.
  const days = BigInt(millis) / 86_400_000n;
  return dateAt(days * 86_400n)
    .toISOString()
    .slice(0, 10) === date
    ? days
    : undefined;
}

function secondsOf(found: RegExpExecArray): bigint | undefined {
  const [, date = "", hour, minute, second, , sign, zoneHour, zoneMinute] = found;
  const days = daysOf(date);
  const isTime = Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 59;
  if (days === undefined || !isTime) return undefined;
  const zone = Number(zoneHour ?? 0) * 3600 + Number(zoneMinute ?? 0) * 60;
  const local = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  return days * 86_400n + BigInt(local + (sign === "-" ? zone : -zone));
}
