import { replaceHidden } from "../text/safe-text.ts";
import { ONE_LINE } from "./builders.ts";
import { FORMATS, type Format } from "./formats.ts";
import type { SchemaNode } from "./node.ts";
import { type Problem, show } from "./problem.ts";

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
  return node.examples === undefined ? "" : `; write for example ${node.examples.map(String).join(" or ")}`;
}

function refuse(problems: Problem[], message: string): undefined {
  problems.push({ path: "", message });
  return undefined;
}
