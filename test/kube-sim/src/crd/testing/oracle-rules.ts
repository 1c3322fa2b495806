import type { JsonValue } from "../../json.ts";
import { change, field, type OracleCase, rootSchema, rule, thing } from "./oracle-case.ts";

const TEXT = { type: "string", maxLength: 64 };
const INTEGER = { type: "integer" };
const NUMBER = { type: "number" };
const TEXTS = { type: "array", maxItems: 8, items: TEXT };
const NUMBERS = { type: "array", maxItems: 8, items: INTEGER };
const MAP = { type: "object", maxProperties: 8, additionalProperties: TEXT };
const INT_OR_STRING = {
  "x-kubernetes-int-or-string": true,
  maxLength: 64,
  anyOf: [{ type: "integer" }, { type: "string" }],
};
const OBJECT = {
  type: "object",
  properties: { a: TEXT, b: INTEGER, "c-d": TEXT, namespace: TEXT, e__f: TEXT },
};
const TIME = { type: "string", format: "date-time" };

/** Expressions on a text. */
const ON_TEXT: readonly (readonly [expression: string, value: string])[] = [
  ["self == 'a'", "a"],
  ["self.size() == 2", "😀a"],
  ["self.indexOf('a') == 1", "😀a"],
  ["self.substring(1) == 'a'", "😀a"],
  ["self.substring(2, 1) == ''", "abc"],
  ["self.substring(9) == ''", "abc"],
  ["self.charAt(1) == 'b'", "abc"],
  ["self.charAt(9) == 'b'", "abc"],
  ["self.lowerAscii() == 'ÀB'.lowerAscii()", "Àb"],
  ["self.trim() == 'a'", " a\u00a0"],
  ["self.split(',') == ['a', '', 'b']", "a,,b"],
  ["self.split(',', 2) == ['a', ',b']", "a,,b"],
  ["self.replace('a', 'b', 1) == 'ba'", "aa"],
  ["self.matches('(?i)ABC')", "xabcx"],
  ["self.matches('^[[:alpha:]]+$')", "a1"],
  ["self.find('[0-9]+') == '12'", "a12b3"],
  ["self.findAll('[0-9]') == ['1', '2', '3']", "a12b3"],
  ["self.findAll('[0-9]', 2) == ['1', '2']", "a12b3"],
  ["self.contains('b') && self.startsWith('a') && !self.endsWith('b')", "abc"],
  ["self + 'b' == 'ab' ? true : false", "a"],
  ["self < 'b' && 'Z' < self", "a"],
  ["int(self) == 5", "+5"],
  ["int(self) == 5", "5.0"],
  ["double(self) == 0.5", "0.5"],
  ["bool(self)", "T"],
  ["bool(self)", "yes"],
  ["duration(self) < duration('2h')", "1h30m"],
  ["duration(self) == duration('1500ms')", "1.5s"],
  ["duration(self).getMinutes() == 90", "1h30m"],
  ["duration(self) > duration('0s')", "soon"],
  ["string(duration(self)) == '5400s'", "90m"],
  ["timestamp(self) > timestamp('2024-01-01T00:00:00Z')", "2024-01-01T00:00:00.000000001Z"],
  ["timestamp(self).getDayOfYear() == 365", "2024-12-31T00:00:00Z"],
  ["timestamp(self).getHours('+02:00') == 1", "2024-12-31T23:00:00Z"],
  ["timestamp(self) == timestamp('2024-01-01T00:00:00Z')", "2024-01-01"],
  ["isQuantity(self)", "1Gi"],
  ["isQuantity(self)", "1 Gi"],
  ["quantity(self).isGreaterThan(quantity('1000Mi'))", "1Gi"],
  ["quantity(self).compareTo(quantity('500m')) == 0", "0.5"],
  ["quantity(self).add(quantity('1Ki')).asInteger() == 1025", "1"],
  ["quantity(self).sub(1).asApproximateFloat() == 0.5", "1500m"],
  ["quantity(self).isInteger()", "1500m"],
  ["quantity(self).asInteger() == 1", "1500m"],
  ["sign(quantity(self)) == -1", "-1"],
  ["quantity(self).isLessThan(quantity('1'))", "abc"],
  ["quantity(self) == quantity('1Ki')", "1024"],
  ["isURL(self)", "https://a.b/c"],
  ["isURL(self)", "a/b"],
  [
    "url(self).getHost() == 'a.b:80' && url(self).getPort() == '80' && url(self).getHostname() == 'a.b'",
    "https://a.b:80/c?d=e",
  ],
  ["url(self).getScheme() == 'https' && url(self).getEscapedPath() == '/c%20d'", "https://a.b/c d"],
  ["url(self).getQuery()['d'] == ['e', 'f']", "https://a.b/?d=e&d=f"],
  ["type(self) == string", "a"],
  ["size(bytes(self)) == 2", "é"],
  ["self in ['a', 'b']", "c"],
  ["'%s is %d'.format([self, 3]) == 'a is 3'", "a"],
  ["'%s/%s'.format([self, self]) == 'a/a'", "a"],
  ["strings.quote(self) == '\"a\"'", "a"],
];

const ON_INTEGER: readonly (readonly [expression: string, value: number])[] = [
  ["self + 1 == 3", 2],
  ["self / 0 == 1", 1],
  ["self % 0 == 1", 1],
  ["self * 9223372036854775807 > 0", 2],
  ["-self == -2", 2],
  ["self > 1.5", 2],
  ["self == 2.0", 2],
  ["double(self) / 4.0 == 0.5", 2],
  ["string(self) == '2'", 2],
  ["uint(self) == 2u", 2],
  ["uint(self) == 2u", -2],
  ["dyn(self) == dyn('2')", 2],
  ["self in [1, 2]", 2],
  ["self == 1 || 1 / (self - 2) > 0", 2],
  ["self == 2 || 1 / (self - 2) > 0", 2],
  ["1 / (self - 2) > 0 || self == 2", 2],
  ["self != 2 && 1 / (self - 2) > 0", 2],
  ["[1, 2, 3].exists(i, 6 / (i - self) == 6)", 2],
];

const ON_OTHERS: readonly OracleCase[] = [
  rule("self > 1 && self < 1.6", NUMBER, 1.5),
  rule("string(self) == '1e+06'", NUMBER, 1_000_000),
  rule("int(self) == 1", NUMBER, 1.9),
  rule("int(self) > 0", NUMBER, 1e30),
  rule("self.all(x, x.size() > 0)", TEXTS, ["a", ""]),
  rule("self.exists(x, x == 'b')", TEXTS, ["a"]),
  rule("self.exists_one(x, x == 'a')", TEXTS, ["a", "a"]),
  rule("self.filter(x, x > 1).map(x, x * 2) == [4, 6]", NUMBERS, [1, 2, 3]),
  rule("self.map(x, x > 1, x * 2) == [4, 6]", NUMBERS, [1, 2, 3]),
  rule("self.isSorted() && self.sum() == 6 && self.min() == 1 && self.max() == 3", NUMBERS, [1, 2, 3]),
  rule("self.min() == 1", NUMBERS, []),
  rule("self.indexOf(2) == 1 && self.lastIndexOf(2) == 3", NUMBERS, [1, 2, 3, 2]),
  rule("self[1] == 2", NUMBERS, [1]),
  rule("self[0] == 1 && self[-1] == 2", NUMBERS, [1, 2]),
  rule("self + [9] == [1, 9]", NUMBERS, [1]),
  rule(
    "sets.contains(self, [1]) && sets.intersects(self, [9, 2]) && sets.equivalent(self, [2, 1, 1])",
    NUMBERS,
    [1, 2],
  ),
  rule(
    "self.slice(0, 2) == [1, 2] && self.reverse() == [3, 2, 1] && self.distinct().size() == 3",
    NUMBERS,
    [1, 2, 3],
  ),
  rule("self.join('-') == 'a-b'", TEXTS, ["a", "b"]),
  rule("self == ['b', 'a']", { ...TEXTS, "x-kubernetes-list-type": "set" }, ["a", "b"]),
  rule("self.all(k, self[k] != '')", MAP, { a: "1", b: "" }),
  rule("'a' in self && !('z' in self) && self.a == '1' && self['a'] == '1'", MAP, { a: "1" }),
  rule("self['z'] == '1'", MAP, { a: "1" }),
  rule("size(self) == 1 && has(self.a) && !has(self.z)", MAP, { a: "1" }),
  rule("has(self.a) && !has(self.b)", OBJECT, { a: "" }),
  rule("self.b == 1", OBJECT, { a: "" }),
  rule("self.c__dash__d == 'x' && self.__namespace__ == 'n' && self.e__underscores__f == 'u'", OBJECT, {
    "c-d": "x",
    namespace: "n",
    e__f: "u",
  }),
  rule("self.?b.orValue(7) == 7 && !self.?b.hasValue() && self.?a.value() == 'x'", OBJECT, { a: "x" }),
  rule("self.?a.optMap(v, v.size()).orValue(0) == 1", OBJECT, { a: "x" }),
  rule("optional.none().or(optional.of(1)).value() == 1", OBJECT, {}),
  rule("type(self) == int ? self < 5 : self.endsWith('%')", INT_OR_STRING, "7%"),
  rule("type(self) == int ? self < 5 : self.endsWith('%')", INT_OR_STRING, 7),
  rule("self < 5", INT_OR_STRING, "7%"),
  rule("string(self) == '7' && isQuantity(string(self))", INT_OR_STRING, 7),
  rule("self > timestamp('2026-01-01T00:00:00Z')", TIME, "2026-07-01T10:00:00Z"),
  rule("self - timestamp('2026-07-01T00:00:00Z') == duration('10h')", TIME, "2026-07-01T10:00:00Z"),
  rule("self == duration('90m')", { type: "string", format: "duration" }, "1h30m"),
  rule("self.size() == 2", { type: "string", format: "byte", maxLength: 9 }, "aGk="),
  rule("self == null", { ...OBJECT, nullable: true }, { a: "" }),
];

/** Rules that cannot be installed. */
const WRONG: readonly OracleCase[] = [
  ...[
    "self.typo == 'a'",
    "has(self.typo)",
    "has(self)",
    "self.a == 1",
    "self.a.typo",
    "self.a",
    "other == 1",
    "self.a.nothing()",
    "size(self.b) == 1",
    "self.b + self.a == 2",
    "self.a ? true : false",
    "self.b.all(x, true)",
    "self.a.matches('a(?=b)')",
    "duration('1 day') > duration('0s')",
    "timestamp('today') > timestamp('2026-01-01T00:00:00Z')",
    "[1, 'a'].size() == 2",
    "self.a == 'x",
    "self.a ==",
    "self.a == 'x' &&",
    "1 == 1.0",
    "'a' in 'abc'",
    "self.b.exists(1, true)",
    "for == 1",
    "true ? 1 : 'a'",
    "dyn(1)",
  ].map((expression) => rule(expression, OBJECT, { a: "" })),
  rule("true", OBJECT, {}, { messageExpression: "self.b" }),
  rule("true", OBJECT, {}, { messageExpression: "self.typo" }),
  rule("true", OBJECT, {}, { message: "a\nb" }),
  rule("true", OBJECT, {}, { message: " " }),
  rule(" ", OBJECT, {}),
  rule("true\n&& true", OBJECT, {}),
  rule("true", OBJECT, {}, { reason: "Because" }),
  rule("true", OBJECT, {}, { fieldPath: ".typo" }),
  rule("true", OBJECT, {}, { optionalOldSelf: true }),
  field(
    "a rule with oldSelf in a plain list",
    {
      type: "array",
      maxItems: 3,
      items: { ...TEXT, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
    },
    [],
  ),
];

const MESSAGES: readonly OracleCase[] = [
  rule("self == 'b'", TEXT, "a", { message: " must be b " }),
  rule("self == 'b'", TEXT, "a", { message: "must be b", messageExpression: "'not ' + self" }),
  rule("self == 'b'", TEXT, "a", { message: "must be b", messageExpression: "self.substring(9)" }),
  rule("self == 'b'", TEXT, "a", { message: "must be b", messageExpression: "'  '" }),
  rule("self == 'b'", TEXT, "a", { reason: "FieldValueForbidden", message: "no" }),
  rule("self == 'b'", TEXT, "a", { reason: "FieldValueRequired", message: "no" }),
  rule("self == 'b'", TEXT, "a", { reason: "FieldValueDuplicate", message: "no" }),
  rule("has(self.b)", OBJECT, { a: "" }, { fieldPath: ".b", message: "needed" }),
  rule("has(self.b)", OBJECT, { a: "" }, { fieldPath: ".c-d" }),
  rule("self.all(k, k == 'a')", MAP, { b: "" }, { fieldPath: "['a.b']", message: "m" }),
  rule("self.size() < 1", TEXTS, ["a"], { message: "too much" }),
  field(
    "a rule on the values of a map",
    {
      type: "object",
      maxProperties: 8,
      additionalProperties: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != ''" }] },
    },
    { "a/b": "" },
  ),
  field(
    "a rule on the items of a list",
    { type: "array", maxItems: 8, items: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != ''" }] } },
    ["a", ""],
  ),
  field(
    "rules wait for the right shape",
    {
      type: "object",
      required: ["b"],
      properties: { a: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != ''" }] }, b: INTEGER },
    },
    { a: "" },
  ),
  field(
    "rules run beside a wrong pattern",
    { ...TEXT, pattern: "^b", "x-kubernetes-validations": [{ rule: "self != 'a'" }] },
    "a",
  ),
  root("self.metadata.name == 'two'"),
  root("self.metadata.name.startsWith('o') && self.kind == 'Thing' && self.apiVersion == 'example.com/v1'"),
  root("self.metadata.namespace == 'default'"),
  root("has(self.spec.x)"),
];

const FIXED = { ...TEXT, "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "is fixed" }] };
const KEYED = {
  type: "array",
  maxItems: 8,
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": ["k"],
  items: {
    type: "object",
    required: ["k"],
    properties: { k: TEXT, v: FIXED },
  },
};

const TRANSITIONS: readonly OracleCase[] = [
  field("a transition rule on creation", FIXED, "a"),
  change("a transition rule that holds", FIXED, { from: "a", to: "a" }),
  change("a transition rule that is broken", FIXED, { from: "a", to: "b" }),
  change("a transition rule in a keyed list", KEYED, {
    from: [
      { k: "a", v: "1" },
      { k: "b", v: "1" },
    ],
    to: [
      { k: "b", v: "2" },
      { k: "c", v: "3" },
      { k: "a", v: "1" },
    ],
  }),
  change(
    "a transition rule in a map",
    { type: "object", maxProperties: 8, additionalProperties: FIXED },
    { from: { a: "1" }, to: { a: "2", b: "3" } },
  ),
  withOptional("oldSelf.hasValue() || self == 'a'", undefined),
  withOptional("oldSelf.hasValue() || self == 'b'", undefined),
  withOptional("oldSelf.orValue('') != 'x'", "x"),
  change(
    "a broken rule that was broken before",
    { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'a'" }] },
    { from: "a", to: "a" },
  ),
  change(
    "a broken rule on a changed value",
    { ...TEXT, "x-kubernetes-validations": [{ rule: "self.startsWith('b')" }] },
    { from: "a", to: "c" },
  ),
  change(
    "a broken rule in an unchanged plain list",
    { type: "array", maxItems: 8, items: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'a'" }] } },
    { from: ["a"], to: ["a"] },
  ),
  change(
    "a broken rule in a changed plain list",
    { type: "array", maxItems: 8, items: { ...TEXT, "x-kubernetes-validations": [{ rule: "self != 'a'" }] } },
    { from: ["a"], to: ["a", "b"] },
  ),
  change(
    "objects are equal whatever their order",
    { ...OBJECT, "x-kubernetes-validations": [{ rule: "self == oldSelf" }] },
    { from: { a: "1", b: 2 }, to: { b: 2, a: "1" } },
  ),
  change(
    "keyed lists are equal whatever their order",
    {
      ...KEYED,
      items: { ...KEYED.items, properties: { k: TEXT } },
      "x-kubernetes-validations": [{ rule: "self == oldSelf" }],
    },
    { from: [{ k: "a" }, { k: "b" }], to: [{ k: "b" }, { k: "a" }] },
  ),
];

/** Rules, in CEL. */
export const RULE_CASES: readonly OracleCase[] = [
  ...ON_TEXT.map(([expression, value]) => rule(expression, TEXT, value)),
  ...ON_INTEGER.map(([expression, value]) => rule(expression, INTEGER, value)),
  ...ON_OTHERS,
  ...WRONG,
  ...MESSAGES,
  ...TRANSITIONS,
];

function root(expression: string): OracleCase {
  const spec = { type: "object", properties: { x: TEXT } };
  const schema = rootSchema({ spec }, { "x-kubernetes-validations": [{ rule: expression }] });
  return { name: `rule ${expression} at the root`, schema, object: thing({ spec: {} }) };
}

function withOptional(expression: string, old: JsonValue | undefined): OracleCase {
  const schema = { ...TEXT, "x-kubernetes-validations": [{ rule: expression, optionalOldSelf: true }] };
  const made = field(`optional ${expression} after ${JSON.stringify(old)}`, schema, "a");
  return old === undefined ? made : { ...made, old: thing({ spec: { x: old } }) };
}
