import { field, fieldSchema, type OracleCase, rootSchema, thing } from "./oracle-case.ts";

const TEXT = { type: "string" };
const KEEPS = { "x-kubernetes-preserve-unknown-fields": true };
const EMBEDDED = { type: "object", "x-kubernetes-embedded-resource": true, ...KEEPS };

const UNKNOWN: readonly OracleCase[] = [
  {
    name: "unknown fields are dropped",
    schema: fieldSchema(TEXT),
    object: thing({ spec: { x: "a", y: 1 }, z: {} }),
  },
  {
    name: "unknown fields in a list are dropped",
    schema: fieldSchema({ type: "array", items: { type: "object", properties: { a: TEXT } } }),
    object: thing({ spec: { x: [{ a: "", b: "" }, { c: { d: 1 } }] } }),
  },
  field("unknown fields that are kept", { type: "object", ...KEEPS }, { a: { b: [1, { c: 2 }] } }),
  field(
    "known fields among kept ones are pruned",
    { type: "object", ...KEEPS, properties: { a: { type: "object" } } },
    { a: { b: 1 }, c: 1 },
  ),
  field(
    "a map keeps its keys",
    { type: "object", additionalProperties: { type: "object", properties: { a: TEXT } } },
    { k: { a: "1", b: "2" } },
  ),
  field(
    "a map of anything keeps scalars only",
    { type: "object", additionalProperties: true },
    { a: 1, b: { c: 2 } },
  ),
  field("anything at all", KEEPS, [1, { a: null }]),
  field("an embedded object keeps its type", EMBEDDED, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a" },
    spec: {},
  }),
  field("an embedded object without a type", EMBEDDED, { metadata: { name: "a" } }),
  field(
    "an embedded object with known fields",
    { type: "object", "x-kubernetes-embedded-resource": true, properties: { spec: { type: "object" } } },
    { apiVersion: "v1", kind: "Pod", extra: 1, spec: { a: 1 } },
  ),
];

const DEFAULTS: readonly OracleCase[] = [
  {
    name: "a default is filled in",
    schema: fieldSchema({ ...TEXT, default: "d" }),
    object: thing({ spec: {} }),
  },
  { name: "a default needs its parent", schema: fieldSchema({ ...TEXT, default: "d" }), object: thing({}) },
  {
    name: "a default of an object brings its own defaults",
    schema: rootSchema({
      spec: { type: "object", default: {}, properties: { x: { ...TEXT, default: "d" }, y: TEXT } },
    }),
    object: thing({}),
  },
  field("a null gives way to a default", { ...TEXT, default: "d" }, null),
  field("a null that may be stays", { ...TEXT, nullable: true, default: "d" }, null),
  field(
    "defaults in the items of a list",
    { type: "array", items: { type: "object", properties: { a: { type: "integer", default: 3 } } } },
    [{}, { a: 1 }],
  ),
  field(
    "defaults in the values of a map",
    {
      type: "object",
      additionalProperties: { type: "object", properties: { a: { type: "integer", default: 3 } } },
    },
    { k: {} },
  ),
  field("a null in a list gives way to a default", { type: "array", items: { ...TEXT, default: "d" } }, [
    null,
  ]),
];

const SCHEMAS: readonly OracleCase[] = [
  schema("a field without a type", {}),
  schema("a type that does not exist", { type: "text" }),
  schema("a type null", { type: "null" }),
  schema("a list without items", { type: "array" }),
  schema("a list with several items", { type: "array", items: [{ type: "string" }] }),
  schema("items without a type", { type: "array", items: {} }),
  schema("unique items", { type: "array", items: TEXT, uniqueItems: true }),
  schema("pattern properties", { type: "object", patternProperties: { a: TEXT } }),
  schema("a reference", { type: "string", $ref: "#/x" }),
  schema("properties beside a map", { type: "object", properties: { a: TEXT }, additionalProperties: TEXT }),
  schema("a pattern with look-ahead", { ...TEXT, pattern: "a(?=b)" }),
  schema("a pattern with a back-reference", { ...TEXT, pattern: "(a)\\1" }),
  schema("a pattern without its end", { ...TEXT, pattern: "(a" }),
  schema("a pattern with an open class", { ...TEXT, pattern: "[a" }),
  schema("a pattern that repeats nothing", { ...TEXT, pattern: "*a" }),
  schema("a pattern that repeats twice", { ...TEXT, pattern: "a**" }),
  schema("a pattern that repeats too often", { ...TEXT, pattern: "a{1001}" }),
  schema("a type inside anyOf", { ...TEXT, anyOf: [{ type: "string" }] }),
  schema("a description inside allOf", { ...TEXT, allOf: [{ description: "x", minLength: 1 }] }),
  schema("an unknown list type", { type: "array", items: TEXT, "x-kubernetes-list-type": "bag" }),
  schema("a list type on a text", { ...TEXT, "x-kubernetes-list-type": "set" }),
  schema("a list map without keys", {
    type: "array",
    items: { type: "object" },
    "x-kubernetes-list-type": "map",
  }),
  schema("a list map with an optional key", {
    type: "array",
    items: { type: "object", properties: { k: TEXT } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
  }),
  schema("a list map with an unknown key", {
    type: "array",
    items: { type: "object", properties: { k: TEXT } },
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["l"],
  }),
  schema("a set of objects", { type: "array", items: { type: "object" }, "x-kubernetes-list-type": "set" }),
  schema("a set of what may be null", {
    type: "array",
    items: { ...TEXT, nullable: true },
    "x-kubernetes-list-type": "set",
  }),
  schema("an unknown map type", { type: "object", "x-kubernetes-map-type": "bag" }),
  schema("keeping no unknown fields", { type: "object", "x-kubernetes-preserve-unknown-fields": false }),
  schema("int-or-string that keeps unknown fields", { "x-kubernetes-int-or-string": true, ...KEEPS }),
  schema("a default of the wrong type", { ...TEXT, default: 3 }),
  schema("a default that is not allowed", { ...TEXT, enum: ["a"], default: "b" }),
  schema("a default with unknown fields", { type: "object", properties: { a: TEXT }, default: { b: 1 } }),
  {
    name: "schema: metadata with labels",
    schema: rootSchema({ metadata: { type: "object", properties: { labels: { type: "object" } } } }),
    object: thing({}),
  },
  {
    name: "schema: metadata with a name",
    schema: rootSchema({ metadata: { type: "object", properties: { name: { ...TEXT, maxLength: 3 } } } }),
    object: thing({}),
  },
  { name: "schema: a root that is a text", schema: { type: "string" }, object: thing({}) },
  { name: "schema: a root without a type", schema: { properties: {} }, object: thing({}) },
  {
    name: "schema: a root that is a map",
    schema: { type: "object", additionalProperties: TEXT },
    object: thing({}),
  },
];

function schema(name: string, node: OracleCase["schema"]): OracleCase {
  return { name: `schema: ${name}`, schema: fieldSchema(node), object: thing({ spec: {} }) };
}

/** What is dropped and filled in, and which schemas are refused. */
export const FIELD_CASES: readonly OracleCase[] = [...UNKNOWN, ...DEFAULTS, ...SCHEMAS];
