import { type Check, compile, type UnknownFields } from "./compile.ts";
import type { Schema, SchemaNode } from "./node.ts";
import type { Problem } from "./problem.ts";

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const checks: Readonly<Record<UnknownFields, WeakMap<SchemaNode, Check>>> = {
  drop: new WeakMap(),
  refuse: new WeakMap(),
};

/** Checks JSON data of a peer. The value holds what the schema names and nothing else; never throws. */
export function validate<T>(schema: Schema<T>, input: unknown): Validation<T> {
  return run(schema, input, "drop");
}

/** The same for user input: unknown fields are refused. */
export function validateExactly<T>(schema: Schema<T>, input: unknown): Validation<T> {
  return run(schema, input, "refuse");
}

function run<T>(schema: Schema<T>, input: unknown, unknownFields: UnknownFields): Validation<T> {
  const known = checks[unknownFields];
  let check = known.get(schema);
  if (check === undefined) {
    check = compile(schema, unknownFields);
    known.set(schema, check);
  }
  const problems: Problem[] = [];
  const value = check(input, problems);
  if (problems.length > 0) return { ok: false, problems };
  // The only unchecked cast of the interpreter: the checks above built a value of type T.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the checks above built exactly this
  return { ok: true, value: value as T };
}
