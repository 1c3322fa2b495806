import type { Cause } from "../../api/definition.ts";
import type { JsonValue } from "../../json.ts";
import { invalid } from "../causes.ts";

/** What a schema says of a value. */
export interface Outcome {
  readonly problems: Problem[];
  /** How much of a schema applied: of several alternatives that fail, the problems of the closest are shown. */
  matches: number;
}

/** A refused field. Kubernetes shows each text once. */
export interface Problem {
  /** For comparing, and for `anyOf` and its like the whole of what is said. */
  readonly text: string;
  readonly cause: (field: (path: string) => string) => Cause;
}

/** A value, and what was in its place before. */
export interface Subject {
  readonly value: JsonValue;
  readonly path: string;
  /** undefined: there was nothing, or nobody can say which of the old ones it was. */
  readonly old: JsonValue | undefined;
}

/** One keyword on one value. */
export type Check = (value: JsonValue, path: string, outcome: Outcome) => void;

export type Validate = (subject: Subject, outcome: Outcome) => void;

export function newOutcome(): Outcome {
  return { problems: [], matches: 0 };
}

export function add(outcome: Outcome, problem: Problem): void {
  if (!outcome.problems.some(({ text }) => text === problem.text)) outcome.problems.push(problem);
}

export function merge(outcome: Outcome, other: Outcome): void {
  for (const problem of other.problems) add(outcome, problem);
  outcome.matches += other.matches;
}

/** A problem that names no field of its own. */
export function addUnplaced(outcome: Outcome, text: string): void {
  add(outcome, { text, cause: (field) => invalid(field(""), "", text) });
}

export function addInvalid(
  outcome: Outcome,
  { path, value, says }: { path: string; value: JsonValue; says: string },
): void {
  const text = `${path} in body ${says}`;
  add(outcome, { text, cause: (field) => invalid(field(path), value, text) });
}
