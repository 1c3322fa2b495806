import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** One node of a structural schema, read once when a CustomResourceDefinition is installed. */
export interface Schema {
  /** "" where none is needed: int-or-string, and fields of which nothing is known. */
  readonly type: string;
  readonly format: string;
  readonly isNullable: boolean;
  readonly isIntOrString: boolean;
  readonly keepsUnknown: boolean;
  readonly isEmbedded: boolean;
  readonly properties: ReadonlyMap<string, Schema>;
  /** The schema of a map's values; true: any. */
  readonly additional: Schema | boolean | undefined;
  readonly items: Schema | undefined;
  readonly required: readonly string[];
  readonly default: JsonValue | undefined;
  readonly enum: readonly JsonValue[];
  readonly limits: Limits;
  readonly listType: string;
  readonly listMapKeys: readonly string[];
  readonly mapType: string;
  readonly rules: readonly Rule[];
  readonly allOf: readonly Schema[];
  readonly anyOf: readonly Schema[];
  readonly oneOf: readonly Schema[];
  readonly not: Schema | undefined;
}

export interface Limits {
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly exclusiveMinimum: boolean;
  readonly exclusiveMaximum: boolean;
  readonly multipleOf: number | undefined;
  readonly minLength: number | undefined;
  readonly maxLength: number | undefined;
  readonly pattern: string;
  readonly minItems: number | undefined;
  readonly maxItems: number | undefined;
  readonly minProperties: number | undefined;
  readonly maxProperties: number | undefined;
}

/** One entry of `x-kubernetes-validations`. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string;
  readonly fieldPath: string;
  readonly optionalOldSelf: boolean | undefined;
}

/** What has another type than its keyword asks for counts as absent: `admitDefinition` has refused it before. */
export function readSchema(raw: JsonObject): Schema {
  return {
    type: text(raw["type"]),
    format: text(raw["format"]),
    isNullable: raw["nullable"] === true,
    isIntOrString: raw["x-kubernetes-int-or-string"] === true,
    keepsUnknown: raw["x-kubernetes-preserve-unknown-fields"] === true,
    isEmbedded: raw["x-kubernetes-embedded-resource"] === true,
    properties: schemasByName(raw["properties"]),
    additional: additionalOf(raw["additionalProperties"]),
    items: schemaIn(raw["items"]),
    required: texts(raw["required"]),
    default: raw["default"],
    enum: isList(raw["enum"]) ? raw["enum"] : [],
    limits: limitsOf(raw),
    listType: text(raw["x-kubernetes-list-type"]),
    listMapKeys: texts(raw["x-kubernetes-list-map-keys"]),
    mapType: text(raw["x-kubernetes-map-type"]),
    rules: objects(raw["x-kubernetes-validations"]).map(ruleOf),
    allOf: objects(raw["allOf"]).map(readSchema),
    anyOf: objects(raw["anyOf"]).map(readSchema),
    oneOf: objects(raw["oneOf"]).map(readSchema),
    not: schemaIn(raw["not"]),
  };
}

/** The schema of one field; undefined when nothing is known of it. */
export function schemaOfField(schema: Schema, name: string): Schema | undefined {
  const property = schema.properties.get(name);
  if (property !== undefined) return property;
  return typeof schema.additional === "object" ? schema.additional : undefined;
}

export function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

export function texts(value: JsonValue | undefined): readonly string[] {
  return isList(value) ? value.filter((item) => typeof item === "string") : [];
}

export function objects(value: JsonValue | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

function schemaIn(value: JsonValue | undefined): Schema | undefined {
  return isObject(value) ? readSchema(value) : undefined;
}

function schemasByName(value: JsonValue | undefined): ReadonlyMap<string, Schema> {
  const found = new Map<string, Schema>();
  if (!isObject(value)) return found;
  for (const [name, schema] of Object.entries(value))
    if (isObject(schema)) found.set(name, readSchema(schema));
  return found;
}

function additionalOf(value: JsonValue | undefined): Schema | boolean | undefined {
  return typeof value === "boolean" ? value : schemaIn(value);
}

function limitsOf(raw: JsonObject): Limits {
  return {
    minimum: number(raw["minimum"]),
    maximum: number(raw["maximum"]),
    exclusiveMinimum: raw["exclusiveMinimum"] === true,
    exclusiveMaximum: raw["exclusiveMaximum"] === true,
    multipleOf: number(raw["multipleOf"]),
    minLength: number(raw["minLength"]),
    maxLength: number(raw["maxLength"]),
    pattern: text(raw["pattern"]),
    minItems: number(raw["minItems"]),
    maxItems: number(raw["maxItems"]),
    minProperties: number(raw["minProperties"]),
    maxProperties: number(raw["maxProperties"]),
  };
}

function ruleOf(raw: JsonObject): Rule {
  const optional = raw["optionalOldSelf"];
  return {
    rule: text(raw["rule"]),
    message: text(raw["message"]),
    messageExpression: text(raw["messageExpression"]),
    reason: text(raw["reason"]),
    fieldPath: text(raw["fieldPath"]),
    optionalOldSelf: typeof optional === "boolean" ? optional : undefined,
  };
}

function number(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
