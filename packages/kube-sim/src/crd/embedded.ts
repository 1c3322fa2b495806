import type { Cause } from "../api/definition.ts";
import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { invalid, required } from "./causes.ts";
import { fieldPath } from "./list-types.ts";
import { type Schema, schemaOfField } from "./schema.ts";

export function hasEmbedded(schema: Schema): boolean {
  if (schema.isEmbedded) return true;
  const inner = [...schema.properties.values(), schema.items, schema.additional];
  return inner.some((part) => typeof part === "object" && hasEmbedded(part));
}

/** Whole objects inside of an object must say what they are. */
export function embeddedCauses(schema: Schema, value: JsonValue, path: string): Cause[] {
  if (isList(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) => embeddedCauses(items, item, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  const inner = Object.entries(value).flatMap(([name, field]) => {
    const known = schemaOfField(schema, name);
    return known === undefined || field === undefined
      ? []
      : embeddedCauses(known, field, fieldPath(schema, path, name));
  });
  return schema.isEmbedded ? [...typeCauses(value, path), ...inner] : inner;
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
