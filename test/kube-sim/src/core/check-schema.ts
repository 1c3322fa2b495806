import type { Cause } from "../api/definition.ts";
import { notSupported, required } from "../crd/causes.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isList, isObject, scalarText } from "./look.ts";

/** What a schema says beyond types: fields that must be there, and values out of a list. */
export function checkSchema(schema: JsonObject, value: JsonValue, path = ""): readonly Cause[] {
  if (isList(value)) return checkItems(schema["items"], value, path);
  if (isObject(value)) return [...missing(schema, value, path), ...checkFields(schema, value, path)];
  const { enum: supported } = schema;
  return isList(supported) && value !== "" && !supported.includes(value)
    ? [notSupported(path, value, supported.map(scalarText))]
    : [];
}

function checkItems(
  schema: JsonValue | undefined,
  items: readonly JsonValue[],
  path: string,
): readonly Cause[] {
  if (!isObject(schema)) return [];
  return items.flatMap((item, index) => checkSchema(schema, item, `${path}[${index}]`));
}

function checkFields({ properties }: JsonObject, object: JsonObject, path: string): readonly Cause[] {
  if (!isObject(properties)) return [];
  return Object.entries(object).flatMap(([name, value]) => {
    const known = properties[name];
    return isObject(known) && value !== undefined ? checkSchema(known, value, join(path, name)) : [];
  });
}

/** The server's types cannot tell an empty value from an absent one. */
function missing({ required: names }: JsonObject, object: JsonObject, path: string): readonly Cause[] {
  if (!isList(names)) return [];
  return names.flatMap((name) => {
    if (typeof name !== "string") return [];
    const value = object[name];
    const isEmpty =
      value === undefined || value === "" || value === 0 || (isList(value) && value.length === 0);
    return isEmpty ? [required(join(path, name))] : [];
  });
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
