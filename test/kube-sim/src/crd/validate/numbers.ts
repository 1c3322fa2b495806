import { fractionText } from "../go-text.ts";
import type { Limits, Schema } from "../schema.ts";
import { addInvalid, addUnplaced, type Check } from "./outcome.ts";

/** `minimum`, `maximum`, `multipleOf`, and what the type and its format can hold. */
export function numberCheck(schema: Schema): Check | undefined {
  const { limits } = schema;
  const range = rangeOf(schema);
  const checks = [
    range === undefined ? undefined : rangeCheck(range, limits),
    multipleCheck(limits),
    minimumCheck(limits),
    maximumCheck(limits),
  ].filter((check) => check !== undefined);
  if (checks.length === 0) return undefined;
  return (value, path, outcome) => {
    if (typeof value === "number") for (const check of checks) check(value, path, outcome);
  };
}

type NumberCheck = (value: number, ...rest: Rest<Parameters<Check>>) => void;
type Rest<Parameters extends readonly unknown[]> = Parameters extends readonly [unknown, ...infer Others]
  ? Others
  : [];

interface Range {
  readonly text: string;
  readonly holds: (value: number) => boolean;
}

function rangeOf({ type, format }: Schema): Range | undefined {
  if (type === "integer" && format === "int32") {
    return { text: "type integer with format int32", holds: (value) => (value | 0) === value };
  }
  if (type === "integer") {
    const text = format === "int64" ? "type integer with format int64" : "type integer (default format)";
    return { text, holds: (value) => Number.isInteger(value) && Math.abs(value) <= 2 ** 63 };
  }
  if (type !== "number" || format !== "float") return undefined;
  return { text: "type number with format float", holds: (value) => Number.isFinite(Math.fround(value)) };
}

/** A bound that its own type cannot hold makes Kubernetes refuse every value. */
function rangeCheck(range: Range, { multipleOf, maximum, minimum }: Limits): NumberCheck {
  const bounds = [
    ["MultipleOf", multipleOf],
    ["Maximum boundary", maximum],
    ["Minimum boundary", minimum],
  ] as const;
  const wrong = bounds.flatMap(([name, limit]) => (limit === undefined || range.holds(limit) ? [] : [name]));
  return (value, path, outcome) => {
    const names = range.holds(value) ? wrong : ["Checked", ...wrong];
    for (const name of names) addUnplaced(outcome, `${name} value must be of ${range.text} in ${path}`);
  };
}

function multipleCheck({ multipleOf }: Limits): NumberCheck | undefined {
  if (multipleOf === undefined) return undefined;
  return (value, path, outcome) => {
    if (isMultiple(value, multipleOf)) return;
    addInvalid(outcome, { path, value, says: `should be a multiple of ${boundText(multipleOf, value)}` });
  };
}

function minimumCheck({ minimum, exclusiveMinimum }: Limits): NumberCheck | undefined {
  if (minimum === undefined) return undefined;
  const than = exclusiveMinimum ? "greater than" : "greater than or equal to";
  return (value, path, outcome) => {
    const limit = bound(minimum, value);
    if (exclusiveMinimum ? value > limit : value >= limit) return;
    addInvalid(outcome, { path, value, says: `should be ${than} ${boundText(minimum, value)}` });
  };
}

function maximumCheck({ maximum, exclusiveMaximum }: Limits): NumberCheck | undefined {
  if (maximum === undefined) return undefined;
  const than = exclusiveMaximum ? "less than" : "less than or equal to";
  return (value, path, outcome) => {
    const limit = bound(maximum, value);
    if (exclusiveMaximum ? value < limit : value <= limit) return;
    addInvalid(outcome, { path, value, says: `should be ${than} ${boundText(maximum, value)}` });
  };
}

/** For whole numbers Kubernetes cuts the bound to a whole number. */
function bound(limit: number, value: number): number {
  return Number.isInteger(value) ? Math.trunc(limit) : limit;
}

function boundText(limit: number, value: number): string {
  return Number.isInteger(value) ? Math.trunc(limit).toFixed(0) : fractionText(limit);
}

function isMultiple(value: number, factor: number): boolean {
  if (Number.isInteger(value) && factor >= 1) return value % Math.trunc(factor) === 0;
  const times = factor < 1 ? (1 / factor) * value : value / factor;
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times));
}
