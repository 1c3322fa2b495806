import { formatQuantity, parseQuantity } from "@resource-broker/base";
import type { Cause } from "../api/definition.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isList, isObject } from "./look.ts";

/** A built-in object as an API server reads it into its own types. */
export interface Decoded {
  /** Without nulls and unknown fields; quantities in their canonical form. */
  readonly object: JsonObject;
  /** Paths of the fields that the type does not have. */
  readonly unknown: readonly string[];
  readonly mistyped: readonly Cause[];
}

interface Findings {
  readonly unknown: string[];
  readonly mistyped: Cause[];
}

interface Place {
  readonly schema: JsonObject;
  readonly path: string;
  readonly findings: Findings;
}

export function decode(schema: JsonObject, object: JsonObject): Decoded {
  const findings: Findings = { unknown: [], mistyped: [] };
  return { object: decodeFields(object, { schema, path: "", findings }), ...findings };
}

function decodeValue(value: JsonValue, place: Place): JsonValue | undefined {
  const { schema } = place;
  if (schema["x-kubernetes-int-or-string"] === true) return decodeNumberOrText(value, place);
  switch (schema["type"]) {
    case "object":
      return isObject(value) ? decodeFields(value, place) : mistyped(value, "object", place);
    case "array":
      return isList(value) ? decodeItems(value, place) : mistyped(value, "array", place);
    case "integer":
      return Number.isSafeInteger(value) ? value : mistyped(value, "integer", place);
    case "boolean":
      return typeof value === "boolean" ? value : mistyped(value, "boolean", place);
    default:
      return typeof value === "string" ? decodeText(value, place) : mistyped(value, "string", place);
  }
}

function decodeFields(object: JsonObject, place: Place): JsonObject {
  const { schema, path, findings } = place;
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return object;
  const { properties, additionalProperties } = schema;
  const fields: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(object)) {
    const known =
      isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    const at = path === "" ? name : `${path}.${name}`;
    if (!isObject(known)) findings.unknown.push(at);
    else if (value !== null && value !== undefined) {
      const decoded = decodeValue(value, { schema: known, path: at, findings });
      if (decoded !== undefined) fields[name] = decoded;
    }
  }
  return fields;
}

function decodeItems(items: readonly JsonValue[], { schema, path, findings }: Place): readonly JsonValue[] {
  const item = isObject(schema["items"]) ? schema["items"] : {};
  return items.flatMap((value, index) => {
    const decoded = decodeValue(value, { schema: item, path: `${path}[${index}]`, findings });
    return decoded === undefined ? [] : [decoded];
  });
}

function decodeNumberOrText(value: JsonValue, place: Place): JsonValue | undefined {
  if (typeof value !== "string" && typeof value !== "number") return mistyped(value, "string", place);
  if (place.schema["format"] !== "quantity") return value;
  const parsed = parseQuantity(String(value));
  return parsed.ok ? formatQuantity(parsed.quantity) : refuse(place, parsed.problem);
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u;

function decodeText(value: string, place: Place): string | undefined {
  const { format } = place.schema;
  if (format === "date-time" && !TIME.test(value))
    return refuse(place, `"${value}" is not a time such as 2026-01-05T12:00:00Z`);
  if (format === "byte" && !BASE64.test(value.replaceAll(/\s/gu, "")))
    return refuse(place, "illegal base64 data");
  return value;
}

function mistyped(value: JsonValue, wanted: string, place: Place): undefined {
  const found = isList(value) ? "array" : value === null ? "null" : typeof value;
  return refuse(place, `json: cannot unmarshal ${found} into field ${place.path} of type ${wanted}`);
}

function refuse({ path, findings }: Place, message: string): undefined {
  findings.mistyped.push({ reason: "FieldValueTypeInvalid", field: path, message });
  return undefined;
}
