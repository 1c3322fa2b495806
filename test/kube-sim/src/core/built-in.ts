import { formatQuantity, parseQuantity } from "@resource-broker/base";
import { typeInvalid } from "../api/causes.ts";
import type { Admission, Cause, ResourceDefinition, TableColumn, Write } from "../api/cluster-api.ts";
import { unknownFields } from "../crd/admit-object.ts";
import { mapped, mappedItems, pruned } from "../crd/complete.ts";
import { readSchema, type Schema, schemaOfField } from "../crd/schema.ts";
import { schemaCauses } from "../crd/validate.ts";
import { isList, isObject, type JsonObject, type JsonValue, scalarText, textAt, valueAt } from "../json.ts";
import type { TableField } from "../protobuf/message-tables.ts";
import { MESSAGES } from "../protobuf/tables.generated.ts";
import { ageOf } from "./human-duration.ts";

/** The schemas of built-in kinds, from the tables that Kubernetes' own types were written down in. */

const ANYTHING: JsonObject = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const QUANTITY: JsonObject = { format: "quantity", "x-kubernetes-int-or-string": true };

const KINDS: Readonly<Record<Exclude<TableField["kind"], "message">, JsonObject>> = {
  string: { type: "string" },
  bool: { type: "boolean" },
  int: { type: "integer" },
  quantity: QUANTITY,
  time: { type: "string", format: "date-time" },
  "micro-time": { type: "string", format: "date-time" },
  "int-or-string": { "x-kubernetes-int-or-string": true },
  fields: ANYTHING,
  "string-map": { type: "object", additionalProperties: { type: "string" } },
  "quantity-map": { type: "object", additionalProperties: QUANTITY },
  "bytes-map": { type: "object", additionalProperties: { type: "string", format: "byte" } },
};

/** What the tables do not say and our tests and kubectl users meet. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  Container: ["name"],
  ContainerPort: ["containerPort"],
  EnvVar: ["name"],
  PodSpec: ["containers"],
  Taint: ["key", "effect"],
  Volume: ["name"],
  VolumeMount: ["name", "mountPath"],
};
const EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "Container.imagePullPolicy": ["Always", "IfNotPresent", "Never"],
  "PodSpec.restartPolicy": ["Always", "OnFailure", "Never"],
  "PodStatus.phase": ["Pending", "Running", "Succeeded", "Failed", "Unknown"],
  "Taint.effect": EFFECTS,
  "Toleration.effect": [...EFFECTS, ""],
};

const made = new Map<string, JsonObject>();

function messageSchema(message: string): JsonObject {
  const known = made.get(message);
  if (known !== undefined) return known;
  const required = REQUIRED[message];
  const schema = {
    type: "object",
    properties: propertiesOf(message),
    ...(required === undefined ? {} : { required }),
  };
  made.set(message, schema);
  return schema;
}

function propertiesOf(message: string): JsonObject {
  const properties: Record<string, JsonObject> = {};
  for (const field of MESSAGES[message] ?? []) {
    if (field.isInline === true) Object.assign(properties, propertiesOf(field.message ?? ""));
    else properties[field.name] = fieldSchema(message, field);
  }
  return properties;
}

function fieldSchema(
  message: string,
  { name, kind, isRepeated, message: inner = "" }: TableField,
): JsonObject {
  const values = VALUES[`${message}.${name}`];
  const one = kind === "message" ? messageSchema(inner) : KINDS[kind];
  const schema = values === undefined ? one : { ...one, enum: values };
  return isRepeated === true ? { type: "array", items: schema } : schema;
}

/** What every object carries about itself. */
export const METADATA: JsonObject = messageSchema("ObjectMeta");

interface KindRules {
  /** Sets what was left open. */
  readonly complete?: (object: JsonObject, old: JsonObject | undefined) => JsonObject;
  /** What the schema cannot say. */
  readonly judge?: (object: JsonObject, old: JsonObject | undefined) => readonly Cause[];
}

interface BuiltIn extends KindRules {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly group?: string;
  readonly isNamespaced?: boolean;
  readonly hasStatus?: boolean;
  readonly hasGeneration?: boolean;
  readonly columns: readonly TableColumn[];
  /** Paths that a field selector may name. */
  readonly selectable?: readonly string[];
  readonly mergeKeys?: Readonly<Record<string, string>>;
  readonly updates?: Pick<ResourceDefinition, "allowsBlindUpdate">;
  /** Absent: that of Kubernetes' own type. */
  readonly schema?: JsonObject;
}

/** A kind of the real API server, modelled here. */
export function builtIn(kind: BuiltIn): ResourceDefinition {
  const schema = kind.schema ?? messageSchema(kind.kind);
  return {
    group: kind.group ?? "",
    version: "v1",
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    plural: kind.plural,
    singular: kind.kind.toLowerCase(),
    shortNames: kind.shortNames ?? [],
    categories: kind.categories ?? [],
    isNamespaced: kind.isNamespaced ?? true,
    hasStatus: kind.hasStatus ?? false,
    hasGeneration: kind.hasGeneration ?? false,
    columns: kind.columns,
    admit: admitWith(schema, kind),
    selectableFields: Object.fromEntries((kind.selectable ?? []).map((path) => [path, fieldText(path)])),
    mergeKeys: kind.mergeKeys ?? {},
    schema,
    ...kind.updates,
  };
}

/** How every built-in kind is admitted: read into its type, completed, judged. */
function admitWith(raw: JsonObject, { complete, judge }: KindRules): ResourceDefinition["admit"] {
  const schema = readSchema(raw);
  return (write: Write): Admission => {
    const { object: known, unknown } = pruned(write.object, schema);
    const refused = unknownFields(unknown, write);
    if (refused.admission !== undefined) return refused.admission;
    const mistyped: Cause[] = [];
    const read = canonical<JsonObject>(known, { schema, path: "", mistyped });
    const whole = complete === undefined ? read : complete(read, write.old);
    const wrong = [...mistyped, ...schemaCauses(schema, { value: whole, path: "", old: undefined })];
    const unreadable = wrong.filter(({ reason }) => reason === "FieldValueTypeInvalid");
    if (unreadable.length > 0) return { ok: false, code: 400, causes: unreadable };
    const causes = [...wrong, ...(judge?.(whole, write.old) ?? [])];
    if (causes.length > 0) return { ok: false, code: 422, causes };
    return { ok: true, object: whole, warnings: refused.warnings };
  };
}

interface Place {
  readonly schema: Schema;
  readonly path: string;
  readonly mistyped: Cause[];
}

/** Quantities in their canonical form, as the server's types keep them. */
function canonical<Value extends JsonValue>(value: Value, place: Place): Value;
function canonical(value: JsonValue, { schema, path, mistyped }: Place): JsonValue {
  const inside = (inner: Schema | undefined, item: JsonValue, at: string): JsonValue =>
    inner === undefined ? item : canonical(item, { schema: inner, path: at, mistyped });
  if (isList(value))
    return mappedItems(value, (item, index) => inside(schema.items, item, `${path}[${index}]`));
  if (isObject(value))
    return mapped(value, (name, field) =>
      inside(schemaOfField(schema, name), field, path === "" ? name : `${path}.${name}`),
    );
  if (schema.format !== "quantity") return value;
  const parsed = parseQuantity(scalarText(value));
  if (parsed.ok) return formatQuantity(parsed.quantity);
  mistyped.push(typeInvalid(path, value, parsed.problem));
  return value;
}

/** Booleans read as text; an absent one is false, as in the server's types. */
function fieldText(path: string): (object: JsonObject) => string {
  const absent = path === "spec.unschedulable" ? "false" : "";
  return (object) => scalarText(valueAt(object, path)) || absent;
}

type Cell = (object: JsonObject, nowMs: number) => JsonValue;

export function column(name: string, cell: Cell, priority = 0): TableColumn {
  return { name, type: "string", description: "", priority, cell };
}

export function wideColumn(name: string, cell: Cell): TableColumn {
  return column(name, cell, 1);
}

/** A text of the object; `<none>` where there is none, as kubectl users know it. */
export function textOr(path: string, absent = "<none>"): Cell {
  return (object) => textAt(object, path) || absent;
}

export const AGE: TableColumn = column("Age", (object, nowMs) =>
  ageOf(textAt(object, "metadata.creationTimestamp"), nowMs),
);
