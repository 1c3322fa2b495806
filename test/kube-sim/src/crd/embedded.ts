import type { Cause } from "../api/definition.ts";
import { isObject } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import { invalid, required } from "./causes.ts";
import { compileWalk, type FindCauses } from "./list-types.ts";
import type { Schema } from "./schema.ts";

/** Whole objects inside of an object must say what they are. undefined: the schema has none. */
export function compileEmbedded(schema: Schema): FindCauses | undefined {
  return compileWalk(schema, ({ isEmbedded }) =>
    isEmbedded ? (value, path) => (isObject(value) ? typeCauses(value, path) : []) : undefined,
  );
}

function typeCauses(value: JsonObject, path: string): Cause[] {
  return ["apiVersion", "kind"].flatMap((name) => {
    const found = value[name];
    const field = path === "" ? name : `${path}.${name}`;
    if (found === undefined) return [required(field)];
    if (typeof found !== "string") return [invalid(field, found, "must be a string")];
    return found === "" ? [invalid(field, found, "must not be empty")] : [];
  });
}
