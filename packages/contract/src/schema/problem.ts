import { safeJson, truncate } from "@resource-broker/base";
import type { SchemaNode } from "./node.ts";

/** One thing wrong with an input: where, and what to do about it. */
export interface Problem {
  /** As a person would write it: `requestedResources.cpu`, `usage[3].used`, `labels["a.b/c"]`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** Maximum number of reported problems; bounds the work on hostile input. */
export const MAX_PROBLEMS = 10;

const SHOWN_LENGTH = 40;
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** One line for people: `requestedResources.cpu: "abc" is not a quantity; …`. */
export function describeProblem({ path, message }: Problem): string {
  return path === "" ? message : `${path}: ${message}`;
}

export function describeProblems(problems: readonly Problem[]): string {
  return problems.map(describeProblem).join("; ");
}

/** A value made safe to show: short, quoted, what cannot be seen escaped. */
export function show(value: unknown): string {
  if (typeof value === "string") return safeJson(JSON.stringify(shortened(value)));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : typeof value;
}

function shortened(text: string): string {
  return truncate(text, SHOWN_LENGTH + 1);
}

/** Adds a problem of the value as a whole. */
export function refuse(problems: Problem[], message: string): undefined {
  problems.push({ path: "", message });
  return undefined;
}

/** What a right value looks like: `500m or 2`; `otherwise` where the schema shows none. */
export function examplesOf({ examples }: SchemaNode, otherwise: string): string {
  return examples === undefined ? otherwise : examples.map(String).join(" or ");
}

/** Prefixes the paths of the problems from index `from` on with `key`. */
export function prefixPaths(key: string | number, problems: Problem[], from: number): void {
  for (let index = from; index < problems.length; index++) {
    const problem = problems[index];
    if (problem !== undefined) problems[index] = { ...problem, path: join(key, problem.path) };
  }
}

function join(key: string | number, rest: string): string {
  const head = typeof key === "number" ? `[${key}]` : PLAIN_KEY.test(key) ? shortened(key) : `[${show(key)}]`;
  return rest === "" || rest.startsWith("[") ? head + rest : `${head}.${rest}`;
}
