import type { JsonValue } from "../../json.ts";
import { notSupported, tooLong, tooMany, typeInvalid } from "../causes.ts";
import { jsonText } from "../go-text.ts";
import { compileRe2 } from "../re2/compile-re2.ts";
import { sameJson } from "../same-json.ts";
import type { Limits, Schema } from "../schema.ts";
import { type FormatCheck, formatCheck } from "./formats.ts";
import { add, addInvalid, type Check, type Outcome } from "./outcome.ts";

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

function typeOf(value: JsonValue): string {
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

/** In characters, as Kubernetes counts; most texts need no counting. */
function lengthOf(text: string): number {
  // oxlint-disable-next-line no-control-regex -- ASCII begins with the control characters
  return /^[\x00-\x7f]*$/.test(text) ? text.length : Array.from(text).length;
}
