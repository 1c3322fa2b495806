import type { JsonValue } from "../../json.ts";
import { invalid, notSupported, tooLong, tooMany, typeInvalid } from "../causes.ts";
import { fractionText, jsonText } from "../go-text.ts";
import { compileRe2 } from "../re2/compile-re2.ts";
import { sameJson } from "../same-json.ts";
import type { Limits, Schema } from "../schema.ts";
import { type FormatCheck, formatCheck } from "./formats.ts";
import { add, addUnplaced, type Outcome } from "./outcome.ts";

/** One keyword on one value. */
export type Check = (value: JsonValue, path: string, outcome: Outcome) => void;

export function typeCheck(schema: Schema): Check | undefined {
  const types = schema.isIntOrString ? ["integer", "string"] : schema.type === "" ? [] : [schema.type];
  if (types.length === 0) return undefined;
  const wanted = types.join(",");
  return (value, path, outcome) => {
    const type = typeOf(value);
    const isRight =
      types.includes(type) ||
      (type === "null" && schema.isNullable) ||
      (type === "integer" && types.includes("number"));
    if (!isRight) wrongType({ path, wanted, found: type, outcome });
  };
}

export function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value !== "object") return typeof value;
  return Array.isArray(value) ? "array" : "object";
}

export function enumCheck(allowed: readonly JsonValue[]): Check | undefined {
  if (allowed.length === 0) return undefined;
  const names = allowed.map((value) => (typeof value === "string" ? value : jsonText(value)));
  return (value, path, outcome) => {
    if (allowed.some((one) => sameJson(one, value))) return;
    const text = `${path} in body should be one of [${names.join(" ")}]`;
    add(outcome, { text, cause: (field) => notSupported(field(path), value, names) });
  };
}

/** Kubernetes stops at the first of these that fails. */
export function stringCheck({ maxLength, minLength, pattern }: Limits): Check | undefined {
  if (maxLength === undefined && minLength === undefined && pattern === "") return undefined;
  const compiled = pattern === "" ? undefined : compileRe2(pattern);
  const regex = compiled?.ok === true ? compiled.regex : undefined;
  return (value, path, outcome) => {
    if (typeof value !== "string") return;
    const length = maxLength === undefined && minLength === undefined ? 0 : lengthOf(value);
    if (maxLength !== undefined && length > maxLength) {
      const text = `${path} in body should be at most ${maxLength} chars long`;
      add(outcome, { text, cause: (field) => tooLong(field(path), maxLength) });
    } else if (minLength !== undefined && length < minLength) {
      addInvalid(outcome, { path, value, says: `should be at least ${minLength} chars long` });
    } else if (regex !== undefined && !regex.test(value)) {
      addInvalid(outcome, { path, value, says: `should match '${pattern}'` });
    }
  };
}

export function stringFormatCheck(schema: Schema): Check | undefined {
  const isText = schema.type === "string" || (schema.type === "" && !schema.isIntOrString);
  const check: FormatCheck | undefined = isText ? formatCheck(schema.format) : undefined;
  if (check === undefined) return undefined;
  return (value, path, outcome) => {
    if (typeof value !== "string" || check(value)) return;
    const says = `must be of type ${schema.format}: ${JSON.stringify(value)}`;
    const text = `${path} in body ${says}`;
    add(outcome, { text, cause: (field) => typeInvalid(field(path), value, text) });
  };
}

export function numberCheck(schema: Schema): Check | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema.limits;
  const range = rangeOf(schema);
  if (minimum === undefined && maximum === undefined && multipleOf === undefined && range === undefined) {
    return undefined;
  }
  const wrongBounds = range === undefined ? [] : boundsOutside(schema.limits, range);
  return (value, path, outcome) => {
    if (typeof value !== "number") return;
    if (range !== undefined && !range.holds(value)) {
      addUnplaced(outcome, `Checked value must be of ${range.text} in ${path}`);
    }
    for (const name of wrongBounds)
      addUnplaced(outcome, `${name} value must be of ${range?.text ?? ""} in ${path}`);
    if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
      addInvalid(outcome, { path, value, says: `should be a multiple of ${boundText(multipleOf, value)}` });
    }
    if (minimum !== undefined && !isAbove(value, bound(minimum, value), exclusiveMinimum)) {
      const than = exclusiveMinimum ? "greater than" : "greater than or equal to";
      addInvalid(outcome, { path, value, says: `should be ${than} ${boundText(minimum, value)}` });
    }
    if (maximum !== undefined && !isAbove(-value, -bound(maximum, value), exclusiveMaximum)) {
      const than = exclusiveMaximum ? "less than" : "less than or equal to";
      addInvalid(outcome, { path, value, says: `should be ${than} ${boundText(maximum, value)}` });
    }
  };
}

/** A bound that its own type cannot hold makes Kubernetes refuse every value. */
function boundsOutside({ multipleOf, maximum, minimum }: Limits, range: Range): string[] {
  const bounds = [
    ["MultipleOf", multipleOf],
    ["Maximum boundary", maximum],
    ["Minimum boundary", minimum],
  ] as const;
  return bounds.flatMap(([name, limit]) => (limit === undefined || range.holds(limit) ? [] : [name]));
}

export function sizeCheck(limits: Limits, what: "items" | "properties"): Check | undefined {
  const most = what === "items" ? limits.maxItems : limits.maxProperties;
  const least = what === "items" ? limits.minItems : limits.minProperties;
  if (most === undefined && least === undefined) return undefined;
  return (value, path, outcome) => {
    if (value === null || typeof value !== "object" || Array.isArray(value) !== (what === "items")) return;
    const size = Object.keys(value).length;
    if (least !== undefined && size < least) {
      addInvalid(outcome, { path, value: size, says: `should have at least ${least} ${what}` });
    }
    if (most !== undefined && size > most) {
      const text = `${path} in body should have at most ${most} ${what}`;
      add(outcome, { text, cause: (field) => tooMany(field(path), size, most) });
    }
  };
}

function wrongType({
  path,
  wanted,
  found,
  outcome,
}: {
  path: string;
  wanted: string;
  found: string;
  outcome: Outcome;
}): void {
  const text = `${path} in body must be of type ${wanted}: "${found}"`;
  add(outcome, { text, cause: (field) => typeInvalid(field(path), found, text) });
}

function addInvalid(
  outcome: Outcome,
  { path, value, says }: { path: string; value: JsonValue; says: string },
): void {
  const text = `${path} in body ${says}`;
  add(outcome, { text, cause: (field) => invalid(field(path), value, text) });
}

/** In characters, as Kubernetes counts; most texts need no counting. */
function lengthOf(text: string): number {
  // oxlint-disable-next-line no-control-regex -- ASCII begins with the control characters
  return /^[\x00-\x7f]*$/.test(text) ? text.length : Array.from(text).length;
}

/** For whole numbers Kubernetes cuts the bound to a whole number. */
function bound(limit: number, value: number): number {
  return Number.isInteger(value) ? Math.trunc(limit) : limit;
}

function boundText(limit: number, value: number): string {
  return Number.isInteger(value) ? Math.trunc(limit).toFixed(0) : fractionText(limit);
}

function isAbove(value: number, limit: number, isExclusive: boolean): boolean {
  return isExclusive ? value > limit : value >= limit;
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && factor >= 1) return value % Math.trunc(factor) === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}

interface Range {
  readonly text: string;
  readonly holds: (value: number) => boolean;
}

function rangeOf({ type, format }: Schema): Range | undefined {
  if (type === "integer" && format === "int32") {
    return {
      text: "type integer with format int32",
      holds: (value) => value === Math.trunc(value) && (value | 0) === value,
    };
  }
  if (type === "integer") {
    const text = format === "int64" ? "type integer with format int64" : "type integer (default format)";
    return { text, holds: (value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63 };
  }
  if (type !== "number" || format !== "float") return undefined;
  return { text: "type number with format float", holds: (value) => Number.isFinite(Math.fround(value)) };
}
