import {
  DURATION_MAX_LENGTH,
  DURATION_PATTERN,
  NAMED_RESOURCES,
  POSITIVE_DURATION_PATTERN,
  TIME_MAX_LENGTH,
} from "@resource-broker/base";
import {
  CLUSTER_ID_FORM,
  CLUSTER_ID_MAX_LENGTH,
  CLUSTER_ID_PATTERN,
  DNS_SUBDOMAIN,
} from "@resource-broker/domain";
import * as t from "./builders.ts";
import type { Schema, Sign } from "./node.ts";

/** The names of the formats that the interpreter checks by more than a pattern. */
export const FORMAT = {
  quantity: "quantity",
  decimal: "decimal",
  duration: "go-duration",
  time: "date-time",
  clusterId: "cluster-id",
} as const;

const QUANTITY_MAX_LENGTH = 100;
const SUFFIX = "(?:[numkMGTPE]|[KMGTPE]i|[eE][+-]?0*(?:[0-9]{1,2}|100))?";
const QUANTITY_PATTERNS: Readonly<Record<Sign, string>> = {
  any: `^[+-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)${SUFFIX}$`,
  "non-negative": `^\\+?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)${SUFFIX}$`,
  positive: `^\\+?(?:0*[1-9][0-9]*(?:\\.[0-9]*)?|0*\\.0*[1-9][0-9]*)${SUFFIX}$`,
};
const SMALLEST_INTEGER: Readonly<Record<Sign, number>> = {
  any: -Number.MAX_SAFE_INTEGER,
  "non-negative": 0,
  positive: 1,
};

/** An amount as Kubernetes writes it: `500m`, `2`, `8Gi`. A whole number without quotes is accepted too. */
export function quantity(sign: Sign): Schema<string> {
  return {
    type: ["integer", "string"],
    format: FORMAT.quantity,
    pattern: QUANTITY_PATTERNS[sign],
    maxLength: QUANTITY_MAX_LENGTH,
    minimum: SMALLEST_INTEGER[sign],
    maximum: Number.MAX_SAFE_INTEGER,
    "x-sign": sign,
  };
}

/** Whole numbers: no fraction, and milli-units only where they are whole. */
export const WHOLE_PATTERN =
  "^\\+?(?:[0-9]+(?:\\.0*)?(?:[kMGTPE]|[KMGTPE]i|[eE]\\+?0*[0-9]{1,2})?|[0-9]*000m|0+m)$";

/** A number of GPUs or other devices, as Kubernetes writes quantities: `1`, `2k`, `1000m`; half of one cannot be lent. */
export function count(): Schema<string> {
  return { ...quantity("non-negative"), pattern: WHOLE_PATTERN, "x-whole": true };
}

export const DECIMAL_PATTERN = "^[0-9]{1,12}(?:\\.[0-9]{1,12})?$";

/** A number that must not lose digits, such as a price: a decimal text; JSON numbers are accepted. */
export function decimal(): Schema<string> {
  return {
    type: ["string", "number"],
    format: FORMAT.decimal,
    pattern: DECIMAL_PATTERN,
    maxLength: 25,
    minimum: 0,
    maximum: 999_999_999_999,
    "x-expects": "a decimal number of at most 12 digits before and after the point",
  };
}

/** RFC 3339, up to nine digits of a second, any offset. */
export function time(): Schema<string> {
  return { type: "string", format: FORMAT.time, maxLength: TIME_MAX_LENGTH };
}

/** A duration as Go writes it: `90s`, `1h30m`. */
export function duration(sign: Exclude<Sign, "any">): Schema<string> {
  return {
    type: "string",
    format: FORMAT.duration,
    pattern: sign === "positive" ? POSITIVE_DURATION_PATTERN : DURATION_PATTERN,
    minLength: 1,
    maxLength: DURATION_MAX_LENGTH,
    "x-sign": sign,
  };
}

/** The Common Name of a cluster's certificate; the same grammar as `isClusterId` of the domain. */
export function clusterId(): Schema<string> {
  return t.matching(CLUSTER_ID_PATTERN, `a cluster ID: ${CLUSTER_ID_FORM}`, {
    format: FORMAT.clusterId,
    maxLength: CLUSTER_ID_MAX_LENGTH,
  });
}

/**
 * A cluster ID in a reply of the broker. Older brokers accepted IDs such as `a..b`, which ledgers may still contain; they must
 * not make a whole reply invalid.
 */
export function shownClusterId(): Schema<string> {
  return t.matching("^[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?$", `a cluster ID: ${CLUSTER_ID_FORM}`, {
    format: FORMAT.clusterId,
    maxLength: CLUSTER_ID_MAX_LENGTH,
  });
}

/** A reservation's name. Ours are DNS labels; an older broker names them as any Kubernetes object may be named. */
export function reservationName(): Schema<string> {
  const expects = "a reservation's name: lower-case letters, digits, '-' and single '.', at most 253 of them";
  return t.matching(`^${DNS_SUBDOMAIN}$`, expects, { maxLength: 253 });
}

/** The name of a namespace or a decision. */
export function dnsLabel(): Schema<string> {
  const expects = "a name: lower-case letters, digits and '-', at most 63 of them";
  return t.matching("^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$", expects, { maxLength: 63 });
}

export function labelKey(): Schema<string> {
  const expects = "a label name such as region or topology.kubernetes.io/zone";
  const prefix = `(?:${DNS_SUBDOMAIN}/)?`;
  return t.matching(`^${prefix}[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$`, expects, { maxLength: 317 });
}

export function labelValue(): Schema<string> {
  const expects = "a label value: letters, digits, '-', '_' and '.', at most 63 of them";
  return t.matching("^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$", expects, { maxLength: 63 });
}

/**
 * An extended resource, or a known one without a field of its own. Kubernetes requires a domain before the slash of the former;
 * here it also keeps `constructor` and the like from ever being a resource's name.
 */
export function extendedResourceName(): Schema<string> {
  const expects = "an extended resource name with its domain, such as amd.com/gpu";
  const known = NAMED_RESOURCES.map(({ name }) => name).join("|");
  const pattern = `^(?:${DNS_SUBDOMAIN}/[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?|${known})$`;
  return t.matching(pattern, expects, { maxLength: 317 });
}

export function currency(): Schema<string> {
  return t.matching("^[A-Z]{3}$", "a currency code of three capital letters", {
    maxLength: 3,
    examples: ["EUR"],
  });
}

/** Where a cluster's API server is reached. */
export function httpsUrl(): Schema<string> {
  const pattern = "^https://[A-Za-z0-9.:_~%\\[\\]-]+(?:/[A-Za-z0-9.:_~%/-]*)?$";
  return t.matching(pattern, "an address that begins with https://, without user, query or fragment", {
    maxLength: 512,
    examples: ["https://10.0.0.7:6443"],
  });
}

/** A time of day in UTC; `24:00` is the end of the day. */
export function timeOfDay(): Schema<string> {
  const pattern = "^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$";
  return t.matching(pattern, "a time of day from 00:00 to 24:00", { maxLength: 5, examples: ["22:00"] });
}
