import { type Schema, schemaOfField } from "./schema.ts";

export type FieldPath =
  | { readonly ok: true; readonly path: string; readonly schema: Schema; readonly names: readonly string[] }
  | { readonly ok: false; readonly problem: string };

const TOKEN = /\.|\[|\]|'(?:[^'\\]|\\.)*'|[^.[\]']+/g;

/** A path such as `.spec.labels['a.b']`, checked against the schema; written as messages show fields. */
export function readFieldPath(path: string, schema: Schema, allowsBrackets = true): FieldPath {
  const tokens = path.match(TOKEN) ?? [];
  const names: string[] = [];
  let here = schema;
  let shown = "";
  for (let at = 0; at < tokens.length; ) {
    const step = readStep(tokens, at, allowsBrackets);
    if ("problem" in step) return { ok: false, problem: step.problem };
    const isField = here.properties.has(step.name);
    const next = schemaOfField(here, step.name);
    if (next === undefined) return { ok: false, problem: "does not refer to a valid field" };
    shown = isField ? (shown === "" ? step.name : `${shown}.${step.name}`) : `${shown}[${step.name}]`;
    names.push(step.name);
    here = next;
    at = step.next;
  }
  return { ok: true, path: shown, schema: here, names };
}

type Step = { readonly name: string; readonly next: number } | { readonly problem: string };

function readStep(tokens: readonly string[], at: number, allowsBrackets: boolean): Step {
  const token = tokens[at];
  const following = tokens[at + 1];
  if (token === ".") {
    return following === undefined
      ? { problem: "unexpected end of JSON path" }
      : { name: following, next: at + 2 };
  }
  if (token !== "[") return { problem: `expected [ or . but got: ${token}` };
  if (!allowsBrackets) return { problem: "array notation is not allowed" };
  if (following === undefined) return { problem: "unexpected end of JSON path" };
  if (!/^'.*'$/s.test(following)) return { problem: `expected single quoted string but got ${following}` };
  const closing = tokens[at + 2];
  if (closing !== "]") {
    return {
      problem: closing === undefined ? "unexpected end of JSON path" : `expected ] but got ${closing}`,
    };
  }
  return { name: following.slice(1, -1).replaceAll(/\\(['\\])/g, "$1"), next: at + 3 };
}
