import {
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  objectsAt,
  stringsAt,
  textAt,
} from "../json.ts";

/** One node of a structural schema, read once when a kind is installed. */
export interface Schema {
  /** "" where none is needed: int-or-string, and fields of which nothing is known. */
  readonly type: string;
  readonly format: string;
  readonly isNullable: boolean;
  readonly isIntOrString: boolean;
  readonly keepsUnknown: boolean;
  readonly properties: ReadonlyMap<string, Schema>;
  /** The schema of a map's values. */
  readonly additional: Schema | undefined;
  readonly items: Schema | undefined;
  readonly required: readonly string[];
  readonly default: JsonValue | undefined;
  readonly enum: readonly JsonValue[];
  readonly pattern: RegExp | undefined;
  readonly exclusiveMinimum: boolean;
  readonly limits: Limits;
  readonly listType: string;
  readonly listMapKeys: readonly string[];
  readonly rules: readonly Rule[];
  readonly anyOf: readonly Schema[];
  /** Whether anything below has a default or a rule: most objects need no walk. */
  readonly has: { readonly defaults: boolean; readonly rules: boolean };
}

/** One entry of `x-kubernetes-validations`. */
export interface Rule {
  readonly rule: string;
  readonly message: string;
  readonly reason: string;
  readonly fieldPath: string;
}

const LIMITS = [
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;
type Limits = Readonly<Partial<Record<(typeof LIMITS)[number], number>>>;

/** The keywords this server understands, and those that change nothing here. */
const KNOWN: ReadonlySet<string> = new Set([
  ...LIMITS,
  ..."type format nullable properties additionalProperties items required default enum pattern anyOf exclusiveMinimum".split(
    " ",
  ),
  ..."x-kubernetes-int-or-string x-kubernetes-preserve-unknown-fields x-kubernetes-list-type".split(" "),
  ..."x-kubernetes-list-map-keys x-kubernetes-map-type x-kubernetes-validations".split(" "),
  ..."description title example externalDocs".split(" "),
]);

/** Throws a `TypeError` for a schema that this server cannot judge by. */
export function readSchema(raw: JsonObject): Schema {
  const unknown = Object.keys(raw).find((keyword) => !KNOWN.has(keyword));
  if (unknown !== undefined) throw new TypeError(`kube-sim does not support ${unknown} in schemas`);
  const properties = new Map(
    Object.entries(objectAt(raw, "properties")).flatMap(([name, field]) =>
      isObject(field) ? [[name, readSchema(field)] as const] : [],
    ),
  );
  const items = schemaIn(raw["items"]);
  const additional =
    raw["additionalProperties"] === true ? readSchema({}) : schemaIn(raw["additionalProperties"]);
  const rules = objectsAt(raw, "x-kubernetes-validations").map(ruleOf);
  const inner = [...properties.values(), items, additional].filter((part) => part !== undefined);
  const pattern = textAt(raw, "pattern");
  return {
    type: textAt(raw, "type"),
    format: textAt(raw, "format"),
    isNullable: raw["nullable"] === true,
    isIntOrString: raw["x-kubernetes-int-or-string"] === true,
    keepsUnknown: raw["x-kubernetes-preserve-unknown-fields"] === true,
    properties,
    additional,
    items,
    required: stringsAt(raw, "required"),
    default: raw["default"],
    enum: listAt(raw, "enum"),
    pattern: pattern === "" ? undefined : new RegExp(pattern, "u"),
    exclusiveMinimum: raw["exclusiveMinimum"] === true,
    limits: limitsOf(raw),
    listType: textAt(raw, "x-kubernetes-list-type"),
    listMapKeys: stringsAt(raw, "x-kubernetes-list-map-keys"),
    rules,
    anyOf: objectsAt(raw, "anyOf").map(readSchema),
    has: {
      defaults: raw["default"] !== undefined || inner.some(({ has }) => has.defaults),
      rules: rules.length > 0 || inner.some(({ has }) => has.rules),
    },
  };
}

/** The schema of one field; undefined when nothing is known of it. */
export function schemaOfField(schema: Schema, name: string): Schema | undefined {
  return schema.properties.get(name) ?? schema.additional;
}

function schemaIn(value: JsonValue | undefined): Schema | undefined {
  return isObject(value) ? readSchema(value) : undefined;
}

function ruleOf(raw: JsonObject): Rule {
  const extra = ["messageExpression", "optionalOldSelf"].find((name) => raw[name] !== undefined);
  if (extra !== undefined) throw new TypeError(`kube-sim does not support ${extra} in rules`);
  return {
    rule: textAt(raw, "rule"),
    message: textAt(raw, "message"),
    reason: textAt(raw, "reason"),
    fieldPath: textAt(raw, "fieldPath"),
  };
}

function limitsOf(raw: JsonObject): Limits {
  const limits: Partial<Record<(typeof LIMITS)[number], number>> = {};
  for (const name of LIMITS) {
    const limit = raw[name];
    if (typeof limit === "number") limits[name] = limit;
  }
  return limits;
}
