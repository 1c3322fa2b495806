import { isIP, isIPv4, isIPv6 } from "node:net";
import { parseUrl } from "../cel/functions/urls.ts";
import { parseDate, parseLooseDuration } from "../cel/time.ts";
import { isFailure } from "../cel/values.ts";

export type FormatCheck = (text: string) => boolean;

const TIME = /^(\d{2}):(\d{2}):(\d{2})(.\d+)?(z|([+-]\d{2}:\d{2}))$/;
const UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?";
const HOSTNAME =
  /^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.))+([a-zA-Z\p{L}]){2,63})$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const MAC = /^(?:[0-9a-f]{2}([:-])(?:[0-9a-f]{2}\1)*[0-9a-f]{2}|(?:[0-9a-f]{4}\.)+[0-9a-f]{4})$/i;
const MAC_LENGTHS: ReadonlySet<number> = new Set([12, 16, 40]);
const SHORT_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const LONG_NAME = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const EMAIL = /^[^\s@<>",:;()[\]\\]+@[^\s@<>",:;()[\]\\]+$/;

/** By the name without dashes, which Kubernetes ignores. */
const FORMATS: ReadonlyMap<string, FormatCheck> = new Map<string, FormatCheck>([
  ["byte", (text) => BASE64.test(text)],
  ["cidr", isCidr],
  ["date", (text) => !isFailure(parseDate(text))],
  ["datetime", isDateTime],
  ["duration", (text) => !isFailure(parseLooseDuration(text))],
  ["email", (text) => EMAIL.test(text)],
  ["hexcolor", (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["hostname", isHostname],
  ["ipv4", isSloppyIPv4],
  ["ipv6", (text) => isIPv6(text) && !text.includes("%")],
  ["k8slongname", (text) => text.length <= 253 && LONG_NAME.test(text)],
  ["k8sshortname", (text) => text.length <= 63 && SHORT_NAME.test(text)],
  ["mac", (text) => MAC.test(text) && MAC_LENGTHS.has(text.replaceAll(/[^0-9a-f]/gi, "").length)],
  ["password", () => true],
  ["uri", (text) => parseUrl(text) !== undefined],
  ["uuid", (text) => new RegExp(`^${UUID}[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, "i").test(text)],
  ["uuid3", (text) => new RegExp(`^${UUID}3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`, "i").test(text)],
  ["uuid4", (text) => new RegExp(`^${UUID}4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`, "i").test(text)],
  ["uuid5", (text) => new RegExp(`^${UUID}5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`, "i").test(text)],
]);

/** Kubernetes checks these and kube-sim does not: a definition that uses one is refused. */
const MISSING: ReadonlySet<string> = new Set([
  "bsonobjectid",
  "creditcard",
  "isbn",
  "isbn10",
  "isbn13",
  "rgbcolor",
  "ssn",
]);

/** undefined: Kubernetes does not know the format, and ignores it. */
export function formatCheck(format: string): FormatCheck | undefined {
  return FORMATS.get(format.replaceAll("-", ""));
}

export function isMissingFormat(format: string): boolean {
  return MISSING.has(format.replaceAll("-", ""));
}

function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  const found = time === undefined ? null : TIME.exec(time);
  if (found === null || isFailure(parseDate(date))) return false;
  const [, hour = "", minute = "", second = ""] = found;
  return hour <= "23" && minute <= "59" && second <= "59";
}

function isHostname(text: string): boolean {
  const isShort =
    Buffer.byteLength(text) <= 255 && text.split(".").every((label) => Buffer.byteLength(label) <= 63);
  return isShort && HOSTNAME.test(text);
}

/** Zeros in front are let through, as old versions of Go did. */
function isSloppyIPv4(text: string): boolean {
  return isIPv4(text.replaceAll(/(^|\.)0+(?=\d)/g, "$1"));
}

function isCidr(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  const family = isSloppyIPv4(address) ? 4 : isIP(address);
  return (
    more.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128)
  );
}
