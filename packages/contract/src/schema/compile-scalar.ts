import { parseDuration, parseQuantity, parseTime, replaceHidden } from "@resource-broker/base";
import { ONE_LINE } from "./builders.ts";
import type { SchemaNode, Sign } from "./node.ts";
import { examplesOf, type Problem, refuse, show } from "./problem.ts";
import { DECIMAL_PATTERN, FORMAT, WHOLE_PATTERN } from "./terms.ts";

/** A reading of one value: its normal form, or what is wrong with it. */
type FormatResult = { readonly value: string } | { readonly problem: string };
type Format = (input: unknown, node: SchemaNode) => FormatResult;

/** Formats that a pattern cannot check, or whose message must say more than a pattern can. */
const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  [FORMAT.quantity, readQuantity],
  [FORMAT.decimal, readDecimal],
  [FORMAT.duration, readDuration],
  [FORMAT.time, readTime],
]);

const DECIMAL = new RegExp(DECIMAL_PATTERN, "u");
const WHOLE = new RegExp(WHOLE_PATTERN, "u");

type ScalarCheck = (input: unknown, problems: Problem[]) => unknown;

/** Checks for everything that is not an object or a list. */
export function compileScalar(node: SchemaNode): ScalarCheck {
  const format = node.format === undefined ? undefined : FORMATS.get(node.format);
  if (format !== undefined) return formatCheck(node, format);
  if (node.type === "boolean") return checkBoolean;
  if (node.type === "integer") return numberCheck(node, Number.isSafeInteger, "a whole number");
  if (node.type === "number") return numberCheck(node, Number.isFinite, "a number");
  return node.enum === undefined ? textCheck(node) : choiceCheck(node.enum);
}

function checkBoolean(input: unknown, problems: Problem[]): unknown {
  return typeof input === "boolean" ? input : refuse(problems, `${show(input)} must be true or false`);
}

function formatCheck(node: SchemaNode, read: Format): ScalarCheck {
  return (input, problems) => {
    const reading = read(input, node);
    return "value" in reading ? reading.value : refuse(problems, reading.problem);
  };
}

function numberCheck(node: SchemaNode, accepts: (input: unknown) => boolean, noun: string): ScalarCheck {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = node;
  const above = node.exclusiveMinimum ?? Number.NEGATIVE_INFINITY;
  return (input, problems) => {
    if (typeof input !== "number" || !accepts(input))
      return refuse(problems, `${show(input)} must be ${noun}`);
    if (input <= above) return refuse(problems, `${input} must be more than ${above}`);
    if (input < minimum) return refuse(problems, `${input} must be at least ${minimum}`);
    if (input > maximum) return refuse(problems, `${input} must be at most ${maximum}`);
    return input;
  };
}

function choiceCheck(choices: readonly string[]): ScalarCheck {
  return (input, problems) =>
    typeof input === "string" && choices.includes(input)
      ? input
      : refuse(problems, `${show(input)} is not one of ${choices.join(", ")}`);
}

function textCheck(node: SchemaNode): ScalarCheck {
  const pattern = node.pattern === undefined ? undefined : new RegExp(node.pattern, "u");
  const { minLength = 0, maxLength = 0 } = node;
  const isLine = node.pattern === ONE_LINE;
  return (input, problems) => {
    if (typeof input !== "string") return refuse(problems, `${show(input)} must be a text`);
    const length = lengthOf(input);
    if (length < minLength) return refuse(problems, "must not be empty");
    if (length > maxLength)
      return refuse(problems, `is ${length} characters long; at most ${maxLength} are allowed`);
    if (pattern === undefined || pattern.test(input)) return isLine ? replaceHidden(input) : input;
    return refuse(problems, `${show(input)} is not ${node["x-expects"] ?? "allowed"}${example(node)}`);
  };
}

/** Characters as JSON Schema and Kubernetes count them: a surrogate pair is one. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const isPair =
      (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    if (isPair) {
      length--;
      index++;
    }
  }
  return length;
}

function example(node: SchemaNode): string {
  return node.examples === undefined ? "" : `; write for example ${examplesOf(node, "")}`;
}

function readQuantity(input: unknown, node: SchemaNode): FormatResult {
  if (typeof input === "number") return readQuantityNumber(input, node);
  if (typeof input !== "string") {
    return {
      problem: `${show(input)} is not a quantity; write for example ${examplesOf(node, "500m or 2")}`,
    };
  }
  const parsed = parseQuantity(input);
  if (!parsed.ok) return { problem: parsed.problem };
  const problem =
    signProblem(input, isNegative(input) ? -1n : parsed.quantity.digits, node["x-sign"]) ??
    fractionProblem(input, node);
  return problem === undefined ? { value: input } : { problem };
}

function readQuantityNumber(input: number, node: SchemaNode): FormatResult {
  if (!Number.isSafeInteger(input)) {
    return {
      problem: `${show(input)} is not a whole number; write it in quotes, for example "500m" or "1.5"`,
    };
  }
  const problem = signProblem(String(input), BigInt(input), node["x-sign"]);
  return problem === undefined ? { value: String(input) } : { problem };
}

/** Kubernetes accepts `-0` as zero; a minus sign is reported anyway. */
function isNegative(text: string): boolean {
  return text.startsWith("-");
}

function signProblem(text: string, amount: bigint, sign: Sign | undefined): string | undefined {
  if (sign === "positive" && amount <= 0n) return `${show(text)} must be more than 0`;
  if (sign === "non-negative" && amount < 0n) return `${show(text)} must not be negative`;
  return undefined;
}

function fractionProblem(text: string, node: SchemaNode): string | undefined {
  if (node["x-whole"] !== true || WHOLE.test(text)) return undefined;
  return `${show(text)} is not a whole number; write for example ${examplesOf(node, "1")}`;
}

function readDecimal(input: unknown, node: SchemaNode): FormatResult {
  const text = typeof input === "number" ? plainDecimal(input) : input;
  if (typeof text === "string" && DECIMAL.test(text)) return { value: text };
  const expected = node["x-expects"] ?? "a decimal number";
  return { problem: `${show(input)} is not ${expected}; write for example ${examplesOf(node, "0.042")}` };
}

/** 0.0000001 prints as 1e-7 in JavaScript; a price is written out, or refused when digits would be lost. */
function plainDecimal(input: number): string | undefined {
  const text = String(input);
  if (!text.includes("e")) return text;
  const written = input.toFixed(12).replace(/0+$/, "");
  return Number(written) === input ? written : undefined;
}

function readDuration(input: unknown, node: SchemaNode): FormatResult {
  if (typeof input !== "string")
    return { problem: `${show(input)} is not a duration; write for example 1h30m` };
  const parsed = parseDuration(input);
  if (!parsed.ok) return { problem: parsed.problem };
  if (node["x-sign"] === "positive" && parsed.ms === 0) {
    return { problem: `${show(input)} must be more than 0; write for example 1h30m` };
  }
  return { value: input };
}

function readTime(input: unknown): FormatResult {
  if (typeof input === "string" && parseTime(input) !== undefined) return { value: input };
  return { problem: `${show(input)} is not a time; write for example 2026-07-01T10:00:00Z (RFC 3339)` };
}
