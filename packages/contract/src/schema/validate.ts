import { closest, isRecord } from "@resource-broker/base";
import { compileScalar } from "./compile-scalar.ts";
import type { Schema, SchemaNode } from "./node.ts";
import { MAX_PROBLEMS, type Problem, prefixPaths, refuse, show } from "./problem.ts";

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

/** Returns the value to keep; it means nothing when problems were added. */
type Check = (input: unknown, problems: Problem[]) => unknown;

/** Unknown fields of peers are dropped (they may be newer); unknown fields in user input are refused (typing errors). */
type UnknownFields = "drop" | "refuse";

/**
 * Turns a schema into nested functions, once. Only what the schema names is ever read, so depth and work are
 * bounded by the schema and not by the input.
 */
function compile(node: SchemaNode, unknownFields: UnknownFields): Check {
  if (node.properties !== undefined) return compileObject(node, node.properties, unknownFields);
  if (node.additionalProperties !== undefined)
    return compileRecord(node, node.additionalProperties, unknownFields);
  if (node.items !== undefined) return compileArray(node, node.items, unknownFields);
  return compileScalar(node);
}

interface FieldCheck {
  readonly name: string;
  readonly isRequired: boolean;
  readonly examples: readonly unknown[];
  readonly nullIsEmpty: boolean;
  readonly check: Check;
}

function compileObject(
  node: SchemaNode,
  properties: Readonly<Record<string, SchemaNode>>,
  unknownFields: UnknownFields,
): Check {
  const required = new Set(node.required);
  const fields = Object.entries(properties).map(
    ([name, child]): FieldCheck => ({
      name,
      isRequired: required.has(name),
      examples: child.examples ?? [],
      nullIsEmpty: child["x-null-is-empty"] === true,
      check: compile(child, unknownFields),
    }),
  );
  const names = new Set(Object.keys(properties));
  const minProperties = node.minProperties ?? 0;
  return (input, problems) => {
    if (!isRecord(input)) return refuse(problems, `${show(input)} must be an object`);
    if (unknownFields === "refuse") refuseUnknown(input, names, problems);
    const value: Record<string, unknown> = {};
    let count = 0;
    for (const field of fields) {
      if (problems.length >= MAX_PROBLEMS) return undefined;
      const kept = readField(field, input, problems);
      if (kept === undefined) continue;
      value[field.name] = kept;
      count++;
    }
    if (count < minProperties) refuse(problems, `must have at least one of ${[...names].join(", ")}`);
    return value;
  };
}

function readField(
  field: FieldCheck,
  input: Readonly<Record<string, unknown>>,
  problems: Problem[],
): unknown {
  const { name } = field;
  const given = Object.hasOwn(input, name) ? input[name] : undefined;
  if (given === undefined || (given === null && !field.nullIsEmpty)) {
    if (field.isRequired) problems.push({ path: name, message: `is required${asExample(field.examples)}` });
    return undefined;
  }
  const before = problems.length;
  const kept = field.check(given, problems);
  if (problems.length > before) prefixPaths(name, problems, before);
  return kept;
}

function compileRecord(node: SchemaNode, values: SchemaNode, unknownFields: UnknownFields): Check {
  const checkName = compileScalar(node.propertyNames ?? { type: "string" });
  const checkValue = compile(values, unknownFields);
  const max = node.maxProperties ?? 0;
  return (input, problems) => {
    if (!isRecord(input)) return refuse(problems, `${show(input)} must be an object`);
    const names = Object.keys(input);
    if (names.length > max)
      return refuse(problems, `has ${names.length} entries; at most ${max} are allowed`);
    // Without a prototype: a name such as "constructor" is absent unless someone wrote it.
    const value: Record<string, unknown> = { __proto__: null };
    for (const name of names) {
      if (problems.length >= MAX_PROBLEMS) return undefined;
      const before = problems.length;
      checkName(name, problems);
      if (problems.length === before) value[name] = checkValue(input[name], problems);
      if (problems.length > before) prefixPaths(name, problems, before);
    }
    return value;
  };
}

function compileArray(node: SchemaNode, items: SchemaNode, unknownFields: UnknownFields): Check {
  const check = compile(items, unknownFields);
  const max = node.maxItems ?? 0;
  const min = node.minItems ?? 0;
  const nullIsEmpty = node["x-null-is-empty"] === true;
  return (input, problems) => {
    if (input === null && nullIsEmpty) return [];
    if (!Array.isArray(input)) return refuse(problems, `${show(input)} must be a list`);
    if (input.length > max) return refuse(problems, `has ${input.length} items; at most ${max} are allowed`);
    if (input.length < min) return refuse(problems, `has ${input.length} items; at least ${min} are needed`);
    const value: unknown[] = [];
    for (let index = 0; index < input.length; index++) {
      if (problems.length >= MAX_PROBLEMS) return undefined;
      const before = problems.length;
      value.push(check(input[index], problems));
      if (problems.length > before) prefixPaths(index, problems, before);
    }
    return value;
  };
}

function refuseUnknown(
  input: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  problems: Problem[],
): void {
  for (const name of Object.keys(input)) {
    if (problems.length >= MAX_PROBLEMS) return;
    if (known.has(name)) continue;
    const meant = closest(name, known);
    const advice =
      meant === undefined ? `known here are ${[...known].join(", ")}` : `did you mean ${show(meant)}?`;
    const before = problems.length;
    refuse(problems, `is not known here; ${advice}`);
    prefixPaths(name, problems, before);
  }
}

function asExample(examples: readonly unknown[]): string {
  const simple = examples.filter((example) => typeof example !== "object");
  return simple.length === 0 ? "" : `; write for example ${simple.map(String).join(" or ")}`;
}
