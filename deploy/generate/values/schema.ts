/** The part of JSON Schema (draft 7) that the charts' values are described with. */
export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
  readonly contains?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Properties;
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, false>>;
  readonly allOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
}

export type Properties = Readonly<Record<string, Schema>>;

type Limits = Omit<Schema, "description" | "type" | "default">;

export function text(description: string, byDefault = "", limits: Limits = {}): Schema {
  return { description, type: "string", default: byDefault, ...limits };
}

export function oneOf(description: string, choices: readonly string[]): Schema {
  return { description, type: "string", default: choices[0], enum: choices };
}

export function flag(description: string, byDefault: boolean): Schema {
  return { description, type: "boolean", default: byDefault };
}

export function whole(description: string, byDefault: number, limits: Limits = {}): Schema {
  return { description, type: "integer", default: byDefault, ...limits };
}

/** A list; `items` says what it may hold. */
export function list(description: string, items: Schema, byDefault: readonly unknown[] = []): Schema {
  return { description, type: "array", default: byDefault, items };
}

/** Names and texts, such as labels. */
export function texts(description: string): Schema {
  return { description, type: "object", default: {}, additionalProperties: { type: "string" } };
}

/** What Kubernetes, or the program, checks itself. */
export function anything(description: string, byDefault: object = {}): Schema {
  return { description, type: Array.isArray(byDefault) ? "array" : "object", default: byDefault };
}

/** Values under one name. Names that are not among them are refused. */
export function group(description: string, properties: Properties): Schema {
  return { description, type: "object", additionalProperties: false, properties };
}

/** Where a value is so, others must be so, too. */
export function when(condition: Schema, consequence: Schema): Schema {
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema calls it so, and nobody awaits it
  return { if: condition, then: consequence };
}

/** `at("a.b", schema)`: the value a.b is as the schema says. */
export function at(path: string, schema: Schema): Schema {
  return path.split(".").reduceRight((inner, name) => ({ properties: { [name]: inner } }), schema);
}

/** A group, or undefined where a value is meant. */
export function membersOf(schema: Schema): Properties | undefined {
  return schema.default === undefined ? schema.properties : undefined;
}
