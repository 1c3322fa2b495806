import { change, field, fieldSchema, type OracleCase, rootSchema, thing } from "./oracle-case.ts";

const TEXT = { type: "string" };
const NUMBER = { type: "number" };
const INTEGER = { type: "integer" };
const INT_OR_STRING = {
  "x-kubernetes-int-or-string": true,
  anyOf: [{ type: "integer" }, { type: "string" }],
};
const ITEM = { type: "object", required: ["k"], properties: { k: TEXT, v: INTEGER } };
const KEYED = {
  type: "array",
  items: ITEM,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
};

const TYPES: readonly OracleCase[] = [
  field("a number for a text", TEXT, 3),
  field("a fraction for a text", TEXT, 0.5),
  field("a text for a number", NUMBER, "3"),
  field("a fraction for an integer", INTEGER, 1.5),
  field("a whole number for a number", NUMBER, 4),
  field("a list for an object", { type: "object" }, []),
  field("an object for a list", { type: "array", items: TEXT }, {}),
  field("a text for a boolean", { type: "boolean" }, "true"),
  field("a boolean for an int-or-string", INT_OR_STRING, true),
  field("a fraction for an int-or-string", INT_OR_STRING, 1.5),
  field("a text for an int-or-string", INT_OR_STRING, "50%"),
  field("a number in a list of texts", { type: "array", items: TEXT }, ["a", 1]),
  field("a null for a nullable text", { ...TEXT, nullable: true }, null),
  field("a null for a text is dropped", TEXT, null),
  field("a null in a list", { type: "array", items: TEXT }, ["a", null]),
  field("a null in a map", { type: "object", additionalProperties: TEXT }, { a: null }),
];

const TEXTS: readonly OracleCase[] = [
  field("a text that is too long", { ...TEXT, maxLength: 3 }, "abcd"),
  field("a text of one too many", { ...TEXT, maxLength: 1 }, "ab"),
  field("characters are counted, not bytes", { ...TEXT, maxLength: 3 }, "äöü"),
  field("characters beyond the first plane count once", { ...TEXT, maxLength: 1 }, "😀"),
  field("a text that is too short", { ...TEXT, minLength: 1 }, ""),
  field("a text that is not one of those allowed", { ...TEXT, enum: ["a", "b c"] }, "d"),
  field("a number that is not one of those allowed", { ...INTEGER, enum: [1, 2] }, 3),
  field("a number that is one of those allowed", { ...INTEGER, enum: [1, 2] }, 2),
  field("a pattern that does not match", { ...TEXT, pattern: "^a+$" }, 'b"\n<é>'),
  field("a pattern that matches inside", { ...TEXT, pattern: "b" }, "abc"),
  field("a pattern with a Unicode class", { ...TEXT, pattern: "^\\pL+$" }, "é1"),
  field("a pattern with a named class", { ...TEXT, pattern: "^[[:alpha:]_]+$" }, "a_1"),
  field("a pattern that ignores case", { ...TEXT, pattern: "(?i)^ABC$" }, "abc"),
  field("a dot takes no line feed", { ...TEXT, pattern: "^a.b$" }, "a\nb"),
  field("a dot takes a carriage return", { ...TEXT, pattern: "^a.b$" }, "a\rb"),
  field("a space class takes no wide space", { ...TEXT, pattern: "^\\s$" }, "\u00a0"),
  field("flags go on in the next alternative", { ...TEXT, pattern: "^(?:x(?i)a|b)$" }, "B"),
];

const FORMATS: readonly OracleCase[] = [
  ...["2026-07-01T10:00:00Z", "2026-07-01t10:00:00.5+02:00", "2026-07-01", "2026-02-30T00:00:00Z", "x"].map(
    (value) => field(`date-time ${value}`, { ...TEXT, format: "date-time" }, value),
  ),
  ...["2026-07-01", "2026-13-01", ""].map((value) =>
    field(`date ${value}`, { ...TEXT, format: "date" }, value),
  ),
  ...["1h30m", "2 days", "-5s", "5", "x"].map((value) =>
    field(`duration ${value}`, { ...TEXT, format: "duration" }, value),
  ),
  ...["10.0.0.1", "010.0.0.1", "::1", "300.1.1.1"].map((value) =>
    field(`ipv4 ${value}`, { ...TEXT, format: "ipv4" }, value),
  ),
  ...["::1", "10.0.0.1", "fe80::1%eth0"].map((value) =>
    field(`ipv6 ${value}`, { ...TEXT, format: "ipv6" }, value),
  ),
  ...["10.0.0.0/8", "10.0.0.0/33", "::/0", "10.0.0.0"].map((value) =>
    field(`cidr ${value}`, { ...TEXT, format: "cidr" }, value),
  ),
  ...["https://a.b/c", "/path", "a/b", "mailto:x", "http://a b", ""].map((value) =>
    field(`uri ${value}`, { ...TEXT, format: "uri" }, value),
  ),
  ...["example.com", "-a.com", "a_b", "localhost"].map((value) =>
    field(`hostname ${value}`, { ...TEXT, format: "hostname" }, value),
  ),
  ...["a@b.c", "a", "a@"].map((value) => field(`email ${value}`, { ...TEXT, format: "email" }, value)),
  ...["aGk=", "a", ""].map((value) => field(`byte ${value}`, { ...TEXT, format: "byte" }, value)),
  ...["00:11:22:33:44:55", "0011.2233.4455", "00:11"].map((value) =>
    field(`mac ${value}`, { ...TEXT, format: "mac" }, value),
  ),
  ...["2f6b1c8e-8b0f-4a55-9d2e-0c8f5d1f3a77", "2f6b"].map((value) =>
    field(`uuid4 ${value}`, { ...TEXT, format: "uuid4" }, value),
  ),
  ...["abc", "Abc", "-a"].map((value) =>
    field(`k8s-short-name ${value}`, { ...TEXT, format: "k8s-short-name" }, value),
  ),
  field("an unknown format says nothing", { ...TEXT, format: "colour" }, "x"),
  field("int32 that is too large", { ...INTEGER, format: "int32" }, 3_000_000_000),
  field("int64 that is large", { ...INTEGER, format: "int64" }, 3_000_000_000),
  field("float that is too large", { ...NUMBER, format: "float" }, 1e300),
];

const NUMBERS: readonly OracleCase[] = [
  field("below the minimum", { ...INTEGER, minimum: 1 }, 0),
  field("at an exclusive minimum", { ...INTEGER, minimum: 1, exclusiveMinimum: true }, 1),
  field("above the maximum", { ...INTEGER, maximum: 10 }, 11),
  field("at an exclusive maximum", { ...NUMBER, maximum: 10, exclusiveMaximum: true }, 10),
  field("a fraction above a large maximum", { ...NUMBER, maximum: 1_000_000 }, 1_000_000.5),
  field("a fraction below a small minimum", { ...NUMBER, minimum: 0.000_01 }, 0.000_001),
  field("a large whole number", { ...NUMBER, maximum: 10 }, 123_456_789),
  field("a whole number beside a fraction as minimum", { ...NUMBER, minimum: 0.5 }, 0),
  field("not a multiple", { ...INTEGER, multipleOf: 3 }, 7),
  field("a fraction that is a multiple", { ...NUMBER, multipleOf: 0.5 }, 1.5),
  field("a fraction that is not a multiple", { ...NUMBER, multipleOf: 0.5 }, 1.25),
  field("a bound that the type cannot hold", { ...INTEGER, format: "int32", maximum: 4_000_000_000 }, 1),
];

const SIZES: readonly OracleCase[] = [
  field("too many items", { type: "array", items: TEXT, maxItems: 1 }, ["a", "b"]),
  field("too few items", { type: "array", items: TEXT, minItems: 2 }, ["a"]),
  field(
    "too many properties",
    { type: "object", additionalProperties: TEXT, maxProperties: 2 },
    { a: "", b: "", c: "" },
  ),
  field("too few properties", { type: "object", additionalProperties: TEXT, minProperties: 1 }, {}),
  field("a wrong value in a map", { type: "object", additionalProperties: INTEGER }, { a: "x" }),
  field("a missing field in an item", { type: "array", items: ITEM }, [{ v: 1 }]),
  {
    name: "a missing field",
    schema: fieldSchema(TEXT, { required: ["x"] }),
    object: thing({ spec: {} }),
  },
  {
    name: "a missing field at the root",
    schema: rootSchema({ spec: TEXT }, { required: ["spec"] }),
    object: thing({}),
  },
];

const ALTERNATIVES: readonly OracleCase[] = [
  field("none of any", { ...TEXT, anyOf: [{ pattern: "^a" }, { pattern: "^b" }] }, "c"),
  field("one of any", { ...TEXT, anyOf: [{ pattern: "^a" }, { pattern: "^b" }] }, "b"),
  field("none of one", { ...TEXT, oneOf: [{ pattern: "^a" }, { pattern: "^b" }] }, "c"),
  field("two of one", { ...TEXT, oneOf: [{ pattern: "^a" }, { pattern: "b$" }] }, "ab"),
  field("not all", { ...TEXT, allOf: [{ pattern: "^a" }, { pattern: "b$" }] }, "a"),
  field("none of all", { ...TEXT, allOf: [{ pattern: "^a" }, { pattern: "b$" }] }, "c"),
  field("what must not be", { ...TEXT, not: { enum: ["a"] } }, "a"),
  field(
    "one of two fields",
    {
      type: "object",
      properties: { a: TEXT, b: TEXT },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    { a: "", b: "" },
  ),
];

const LISTS: readonly OracleCase[] = [
  field("a set with a duplicate", { type: "array", items: TEXT, "x-kubernetes-list-type": "set" }, [
    "a",
    "b",
    "a",
    "a",
  ]),
  field(
    "a set of numbers with a duplicate",
    { type: "array", items: INTEGER, "x-kubernetes-list-type": "set" },
    [1, 1],
  ),
  field("a list map with a duplicate", KEYED, [{ k: "a" }, { k: "b" }, { k: "a", v: 2 }]),
  field(
    "a list map with two keys",
    { ...KEYED, "x-kubernetes-list-map-keys": ["k", "v"], items: { ...ITEM, required: ["k", "v"] } },
    [
      { k: "a", v: 1 },
      { k: "a", v: 2 },
      { k: "a", v: 1 },
    ],
  ),
  change("a duplicate that was there before", KEYED, {
    from: [{ k: "a" }, { k: "a" }],
    to: [{ k: "a" }, { k: "a", v: 1 }],
  }),
];

const RATCHETS: readonly OracleCase[] = [
  change("a wrong text that stays", { ...TEXT, pattern: "^a" }, { from: "b", to: "b" }),
  change("a wrong text that changes", { ...TEXT, pattern: "^a" }, { from: "b", to: "c" }),
  {
    name: "a wrong field that stays while another changes",
    schema: rootSchema({
      spec: { type: "object", properties: { x: { ...TEXT, maxLength: 1 }, y: INTEGER } },
    }),
    object: thing({ spec: { x: "abc", y: 2 } }),
    old: thing({ spec: { x: "abc", y: 1 } }),
  },
  change(
    "a wrong item of a keyed list that stays",
    { ...KEYED, items: { ...ITEM, properties: { k: TEXT, v: { ...INTEGER, minimum: 5 } } } },
    {
      from: [{ k: "a", v: 1 }],
      to: [
        { k: "b", v: 6 },
        { k: "a", v: 1 },
      ],
    },
  ),
  change(
    "a wrong item of a plain list that stays",
    { type: "array", items: { ...TEXT, maxLength: 1 } },
    {
      from: ["abc"],
      to: ["a", "abc"],
    },
  ),
  {
    name: "a missing field that was missing before",
    schema: rootSchema({ spec: TEXT }, { required: ["spec"] }),
    object: thing({}),
    old: thing({}),
  },
  {
    name: "a wrong object with kept fields that stays",
    schema: fieldSchema({ type: "object", "x-kubernetes-preserve-unknown-fields": true, maxProperties: 1 }),
    object: thing({ spec: { x: { a: 1, b: 2 } } }),
    old: thing({ spec: { x: { a: 1, b: 2 } } }),
  },
  change(
    "a keyed list in another order that is too long",
    { ...KEYED, maxItems: 1 },
    {
      from: [{ k: "a" }, { k: "b" }],
      to: [{ k: "b" }, { k: "a" }],
    },
  ),
  change(
    "a map that stays too large",
    { type: "object", additionalProperties: TEXT, maxProperties: 1 },
    {
      from: { a: "1", b: "2" },
      to: { a: "1", b: "2" },
    },
  ),
  {
    name: "a status that is wrong",
    schema: rootSchema({
      spec: { type: "object", properties: { x: INTEGER } },
      status: {
        type: "object",
        required: ["p"],
        properties: { p: { ...TEXT, enum: ["a"] }, q: { ...TEXT, pattern: "^a" } },
      },
    }),
    object: thing({ spec: { x: 1 }, status: { p: "z", q: "b" } }),
    old: thing({ spec: { x: 1 }, status: { p: "a" } }),
    isStatus: true,
  },
  {
    name: "a status write does not look at the spec",
    schema: rootSchema({
      spec: { type: "object", properties: { x: { ...INTEGER, minimum: 5 } } },
      status: { type: "object", properties: { p: TEXT } },
    }),
    object: thing({ spec: { x: 1 }, status: { p: "z" } }),
    old: thing({ spec: { x: 2 } }),
    isStatus: true,
  },
];

/** Shapes and sizes of values. */
export const VALUE_CASES: readonly OracleCase[] = [
  ...TYPES,
  ...TEXTS,
  ...FORMATS,
  ...NUMBERS,
  ...SIZES,
  ...ALTERNATIVES,
  ...LISTS,
  ...RATCHETS,
];
