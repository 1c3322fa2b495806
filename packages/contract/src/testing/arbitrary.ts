import { formatDuration } from "@resource-broker/base";
import fc from "fast-check";
import type { SchemaNode } from "../schema/node.ts";
import { FORMAT } from "../schema/terms.ts";

/** How often a value of another kind stands where one of the schema's belongs. */
interface Noise {
  readonly weight: number;
}

const DANGEROUS_NAMES = ["__proto__", "constructor", "toString", "", "a b", "cpu", "x".repeat(400)];

/** JSON values for a schema: valid ones without noise, nearly valid ones with it. */
export function arbitraryOf(node: SchemaNode, noise: Noise = { weight: 0 }): fc.Arbitrary<unknown> {
  const fitting = fittingValue(node, noise);
  if (noise.weight === 0) return fitting;
  return fc.oneof({ arbitrary: fitting, weight: 150 }, { arbitrary: strangeValue(), weight: noise.weight });
}

function fittingValue(node: SchemaNode, noise: Noise): fc.Arbitrary<unknown> {
  if (node.properties !== undefined) return objectValue(node, node.properties, noise);
  if (node.additionalProperties !== undefined) return recordValue(node, node.additionalProperties, noise);
  if (node.items !== undefined) {
    const { minItems = 0, maxItems = 0 } = node;
    return fc.array(arbitraryOf(node.items, noise), {
      minLength: minItems,
      maxLength: Math.min(maxItems, minItems + 3),
    });
  }
  return scalarValue(node);
}

function objectValue(
  node: SchemaNode,
  properties: Readonly<Record<string, SchemaNode>>,
  noise: Noise,
): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, child]) => [name, arbitraryOf(child, noise)]),
  );
  const requiredKeys = noise.weight === 0 ? (node.required ?? []) : [];
  const known = fc.record(fields, { requiredKeys: [...requiredKeys] });
  const least = node.minProperties ?? 0;
  if (noise.weight === 0) return known.filter((value) => Object.keys(value).length >= least);
  const whole = fc.record(fields);
  const strange = fc.dictionary(fc.constantFrom(...DANGEROUS_NAMES), fc.jsonValue(), {
    maxKeys: 2,
    noNullPrototype: true,
  });
  const extended = fc
    .tuple(whole, strange)
    .map(([value, others]) => Object.fromEntries([...Object.entries(others), ...Object.entries(value)]));
  return fc.oneof(
    { arbitrary: whole, weight: 6 },
    { arbitrary: known, weight: 2 },
    { arbitrary: extended, weight: 1 },
  );
}

function recordValue(node: SchemaNode, values: SchemaNode, noise: Noise): fc.Arbitrary<unknown> {
  const name = scalarValue(node.propertyNames ?? { type: "string" }).map(String);
  const anyName =
    noise.weight === 0
      ? name
      : fc.oneof({ arbitrary: name, weight: 20 }, fc.constantFrom(...DANGEROUS_NAMES));
  const entries = fc.array(fc.tuple(anyName, arbitraryOf(values, noise)), {
    maxLength: Math.min(node.maxProperties ?? 0, 3),
  });
  return entries.map((pairs) => Object.fromEntries(pairs));
}

function scalarValue(node: SchemaNode): fc.Arbitrary<unknown> {
  if (node.format === FORMAT.time) return timeText();
  if (node.format === FORMAT.duration) return fc.integer({ min: 1, max: 1e12 }).map(formatDuration);
  if (node.enum !== undefined) return fc.constantFrom(...node.enum);
  if (node.type === "boolean") return fc.boolean();
  if (node.type === "integer") return integerValue(node);
  if (node.type === "number") return numberValue(node);
  const text = textValue(node);
  if (node.format === FORMAT.quantity) return fc.oneof(text, integerValue(node));
  return node.format === FORMAT.decimal
    ? fc.oneof(
        text,
        fc.nat({ max: 1_000_000 }).map((n) => n / 1000),
      )
    : text;
}

/** Building an arbitrary from a pattern is slow, and the same few patterns occur everywhere. */
const textArbitraries = new Map<string, fc.Arbitrary<string>>();

function textValue(node: SchemaNode): fc.Arbitrary<string> {
  const name = `${node.minLength} ${node.maxLength} ${node.pattern}`;
  const text = textArbitraries.get(name) ?? newTextValue(node);
  textArbitraries.set(name, text);
  return text;
}

function newTextValue(node: SchemaNode): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 0, pattern } = node;
  const text =
    pattern === undefined ? fc.string({ unit: "binary" }) : fc.stringMatching(new RegExp(pattern, "u"));
  return text.filter((value) => {
    const length = Array.from(value).length;
    return length >= minLength && length <= maxLength;
  });
}

function integerValue({ minimum = 0, maximum = 0 }: SchemaNode): fc.Arbitrary<number> {
  return fc.integer({ min: minimum, max: maximum });
}

function numberValue({ minimum = 0, maximum = 0, exclusiveMinimum }: SchemaNode): fc.Arbitrary<number> {
  const least = exclusiveMinimum ?? minimum;
  return fc.double({ min: least, max: maximum, noNaN: true, minExcluded: exclusiveMinimum !== undefined });
}

function timeText(): fc.Arbitrary<string> {
  const instant = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
  const tail = fc.constantFrom("Z", "+02:00", "-11:30", ".123456789Z", ".5+00:00");
  return fc.tuple(instant, tail).map(([date, ending]) => date.toISOString().slice(0, 19) + ending);
}

function strangeValue(): fc.Arbitrary<unknown> {
  const texts = [
    "0",
    "-0",
    "+1",
    "1e100",
    "1e101",
    "1Ki",
    "1ki",
    "0.0",
    ".5",
    "5.",
    "1h",
    "0s",
    "+0",
    "-1",
    "1e3h",
    "24:00",
    "EUR",
    "rome",
    "Rome",
    "\u0000",
    "2026-02-29T00:00:00Z",
    "2028-02-29T23:59:59Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01t00:00:00Z",
  ];
  return fc.oneof(
    fc.constantFrom(...texts),
    fc.jsonValue(),
    fc.constantFrom(null, true, 0, -0, 1, -1, 1.5, 0.1, 1e-7, 1e21, 2 ** 53, "", [], {}, [null], {
      cpu: null,
    }),
  );
}
