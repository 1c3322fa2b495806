import { dateAt } from "../time.ts";
import { DURATION, INT, STRING, TIMESTAMP } from "../types.ts";
import { failure, type Value } from "../values.ts";
import { method, type Overload, taggedArg, textArg } from "./overload.ts";

const SECOND = 1_000_000_000n;
const DAY_MS = 86_400_000;
const OFFSET = /^([+-]?)(\d{2}):(\d{2})$/;

const OF_TIMESTAMP: readonly (readonly [string, (date: Date) => number])[] = [
  ["getFullYear", (date) => date.getUTCFullYear()],
  ["getMonth", (date) => date.getUTCMonth()],
  ["getDate", (date) => date.getUTCDate()],
  ["getDayOfMonth", (date) => date.getUTCDate() - 1],
  ["getDayOfWeek", (date) => date.getUTCDay()],
  ["getDayOfYear", (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS)],
  ["getHours", (date) => date.getUTCHours()],
  ["getMinutes", (date) => date.getUTCMinutes()],
  ["getSeconds", (date) => date.getUTCSeconds()],
];

const OF_DURATION: readonly (readonly [string, bigint])[] = [
  ["getHours", 3600n * SECOND],
  ["getMinutes", 60n * SECOND],
  ["getSeconds", SECOND],
  ["getMilliseconds", SECOND / 1000n],
];

export const TIMES: readonly Overload[] = [
  ...OF_TIMESTAMP.flatMap(([name, read]) => [
    method(name, [TIMESTAMP], [INT, ([time]) => BigInt(read(dateOf(time, 0n)))]),
    method(name, [TIMESTAMP, STRING], [INT, ([time, zone]) => inZone(time, zone, read)]),
  ]),
  method("getMilliseconds", [TIMESTAMP], [INT, ([time]) => millisOf(time)]),
  ...OF_DURATION.map(([name, unit]) =>
    method(name, [DURATION], [INT, ([value]) => taggedArg(value, "duration").nanos / unit]),
  ),
];

function inZone(time: Value | undefined, zone: Value | undefined, read: (date: Date) => number): Value {
  const name = textArg(zone);
  if (name === "UTC" || name === "") return BigInt(read(dateOf(time, 0n)));
  const found = OFFSET.exec(name);
  if (found === null) return failure(`kube-sim knows offsets such as +02:00 and no time zone ${name}`);
  const [, sign, hours = "", minutes = ""] = found;
  const seconds = BigInt(Number(hours) * 3600 + Number(minutes) * 60);
  return BigInt(read(dateOf(time, sign === "-" ? -seconds : seconds)));
}

function dateOf(time: Value | undefined, offsetSeconds: bigint): Date {
  const { nanos } = taggedArg(time, "timestamp");
  const rest = ((nanos % SECOND) + SECOND) % SECOND;
  return dateAt((nanos - rest) / SECOND + offsetSeconds);
}

function millisOf(time: Value | undefined): bigint {
  const { nanos } = taggedArg(time, "timestamp");
  return (((nanos % SECOND) + SECOND) % SECOND) / (SECOND / 1000n);
}
