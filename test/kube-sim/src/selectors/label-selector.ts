import { labelValueProblems, qualifiedNameProblems } from "../api/names.ts";
import { badRequest } from "../api/statuses.ts";
import type { JsonObject } from "../json.ts";
import { metadataOf, objectAt } from "../json-access.ts";
import { type Token, tokensOf } from "./label-tokens.ts";

type Requirement = (labels: JsonObject) => boolean;

const OPERATORS = "in, notin, =, ==, !=, gt, lt";

/** Reads `a=b, c in (d, e), !f`; what cannot be read is a BadRequest. */
export function labelSelector(text: string): (object: JsonObject) => boolean {
  const requirements = parse(text);
  return (object) => {
    const labels = objectAt(metadataOf(object), "labels");
    return requirements.every((requirement) => requirement(labels));
  };
}

function parse(text: string): readonly Requirement[] {
  const tokens = [...tokensOf(text)];
  const requirements: Requirement[] = [];
  const next = (): Token => tokens.shift() ?? { kind: "end", text: "" };
  const peek = (): Token => tokens[0] ?? { kind: "end", text: "" };
  if (peek().kind === "end") return requirements;
  for (;;) {
    if (!startsRequirement(peek())) {
      throw badRequest(
        `found '${peek().text}', expected: ${requirements.length === 0 ? "!, identifier, or 'end of string'" : "identifier after ','"}`,
      );
    }
    requirements.push(requirementOf(next, peek));
    const separator = next();
    if (separator.kind === "end") return requirements;
    if (separator.kind !== ",") {
      throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    }
  }
}

function startsRequirement({ kind }: Token): boolean {
  return kind === "word" || kind === "!";
}

function requirementOf(next: () => Token, peek: () => Token): Requirement {
  const first = next();
  if (first.kind === "!") {
    const name = keyOf(next());
    return (labels) => !Object.hasOwn(labels, name);
  }
  const name = keyOf(first);
  if (peek().kind === "end" || peek().kind === ",") return (labels) => Object.hasOwn(labels, name);
  return comparison(name, operatorOf(next()), () => valuesOf(next, peek));
}

function keyOf({ kind, text }: Token): string {
  if (kind !== "word") throw unreadable(`found '${text}', expected: identifier`);
  const [problem] = qualifiedNameProblems(text);
  if (problem !== undefined) throw unreadable(`<nil>: Invalid value: ${JSON.stringify(text)}: ${problem}`);
  return text;
}

function operatorOf({ kind, text }: Token): string {
  const isOperator = ["=", "==", "!=", ">", "<"].includes(kind) || text === "in" || text === "notin";
  if (!isOperator) throw unreadable(`found '${text}', expected: ${OPERATORS}`);
  return text;
}

function comparison(name: string, operator: string, values: () => Values): Requirement {
  const { listed, exact = "" } = values();
  if (operator === "in" || operator === "notin") return membership(name, operator, { listed, exact });
  if (listed !== undefined) throw unreadable("found '(', expected: identifier");
  if (operator === ">" || operator === "<") return numberComparison(name, operator, exact);
  const [value = ""] = checked(name, [exact]);
  const isEqual = (labels: JsonObject) => Object.hasOwn(labels, name) && labels[name] === value;
  return operator === "!=" ? (labels) => !isEqual(labels) : isEqual;
}

function membership(name: string, operator: "in" | "notin", { listed, exact }: Values): Requirement {
  if (listed === undefined) throw unreadable(`found '${exact ?? ""}' expected: '('`);
  const wanted = new Set(checked(name, listed));
  const isIn = (labels: JsonObject) => isAmong(wanted, labels, name);
  return operator === "in" ? isIn : (labels) => !isIn(labels);
}

function isAmong(wanted: ReadonlySet<string>, labels: JsonObject, name: string): boolean {
  const value = labels[name];
  return Object.hasOwn(labels, name) && typeof value === "string" && wanted.has(value);
}

function numberComparison(name: string, operator: ">" | "<", text: string): Requirement {
  if (!/^-?\d+$/.test(text)) {
    throw unreadable(
      `values[0][${name}]: Invalid value: ${JSON.stringify(text)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  const bound = BigInt(text);
  return (labels) => {
    const value = labels[name];
    if (!Object.hasOwn(labels, name) || typeof value !== "string" || !/^-?\d+$/.test(value)) return false;
    return operator === ">" ? BigInt(value) > bound : BigInt(value) < bound;
  };
}

function checked(name: string, values: readonly string[]): readonly string[] {
  values.forEach((value, index) => {
    const [problem] = labelValueProblems(value);
    if (problem === undefined) return;
    throw unreadable(`values[${index}][${name}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
  });
  return values;
}

/** `(a, b)`, or one value. */
interface Values {
  readonly listed?: readonly string[] | undefined;
  readonly exact?: string | undefined;
}

function valuesOf(next: () => Token, peek: () => Token): Values {
  if (peek().kind !== "(") {
    const isAbsent = peek().kind === "end" || peek().kind === ",";
    if (isAbsent) return { exact: "" };
    const token = next();
    if (token.kind !== "word") throw unreadable(`found '${token.text}', expected: identifier`);
    return { exact: token.text };
  }
  next();
  const listed: string[] = [];
  for (;;) {
    listed.push(peek().kind === "word" ? next().text : "");
    const token = next();
    if (token.kind === ")") return { listed };
    if (token.kind !== ",") throw unreadable(`found '${token.text}', expected: ',' or ')'`);
  }
}

function unreadable(why: string): Error {
  return badRequest(`unable to parse requirement: ${why}`);
}
