import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SchemaNode } from "../src/schema/node.ts";
import { validate, validateExactly } from "../src/schema/validate.ts";
import { arbitraryOf } from "../src/testing/arbitrary.ts";
import { boundedSchemas } from "./limits-reference.ts";

/**
 * ajv is the judge of what our schemas mean as JSON Schema. Where we differ on purpose, `forAjv` says so in
 * JSON Schema, or the format below repeats the rule in other code; nothing else may differ.
 */
const ajv = new Ajv2020({ strict: false, ownProperties: true, validateFormats: true });
for (const format of ["quantity", "decimal", "cluster-id"]) ajv.addFormat(format, true);
ajv.addFormat("date-time", (text: string) => isTime(text));
// Difference: Go cannot hold more than 292 years, and counts no less than a nanosecond.
ajv.addFormat("go-duration", (text: string) => nanosecondsOf(text) < 2 ** 63);
ajv.addKeyword({
  keyword: "x-sign",
  validate: (sign: unknown, input: unknown, { format }: { format?: string } = {}) =>
    format !== "go-duration" || sign !== "positive" || typeof input !== "string" || nanosecondsOf(input) > 0,
});
// Difference: a number that cannot be written with 12 decimals would lose digits as a price.
ajv.addKeyword({
  keyword: "x-plain-decimal",
  validate: (_: unknown, input: unknown) => typeof input !== "number" || Number(input.toFixed(12)) === input,
});

describe.each(boundedSchemas())("%s", (_, schema) => {
  const judge = ajv.compile(forAjv(schema));

  test("means to us what it means to ajv", () => {
    fc.assert(
      fc.property(arbitraryOf(schema, { weight: 1 }), (input) => {
        const result = validate(schema, input);
        expect({ input, isAccepted: result.ok }).toEqual({ input, isAccepted: judge(input) });
      }),
      { numRuns: 200 },
    );
  });

  test("accepts what fits it, and accepts what it made of it", () => {
    fc.assert(
      fc.property(arbitraryOf(schema), (input) => {
        const once = validate(schema, input);
        expect(once).toMatchObject({ ok: true });
        if (once.ok) expect(validateExactly(schema, once.value)).toEqual(once);
      }),
      { numRuns: 50 },
    );
  });
});

/** The schema with our deliberate differences written out. */
function forAjv(node: SchemaNode): object {
  const { properties, items, additionalProperties, minProperties, ...rest } = node;
  return {
    ...rest,
    // Difference: an empty list may be null where older peers write it so.
    ...(node["x-null-is-empty"] === true ? { type: ["array", "null"] } : {}),
    ...(node.format === "decimal" ? { "x-plain-decimal": true } : {}),
    ...(properties === undefined ? {} : { properties: optionalAsNullable(node, properties) }),
    // Difference: only fields that the schema knows count.
    ...(minProperties === undefined ? {} : { anyOf: Object.keys(properties ?? {}).map(isThere) }),
    ...(items === undefined ? {} : { items: forAjv(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: forAjv(additionalProperties) }),
  };
}

/** Difference: null for an optional field counts as absent. */
function optionalAsNullable(node: SchemaNode, properties: Readonly<Record<string, SchemaNode>>): object {
  const entries = Object.entries(properties).map(([name, child]) => {
    const isRequired = node.required?.includes(name) === true;
    return [name, isRequired ? forAjv(child) : { anyOf: [{ type: "null" }, forAjv(child)] }] as const;
  });
  return Object.fromEntries(entries);
}

function isThere(name: string): object {
  return { required: [name], properties: { [name]: { not: { type: "null" } } } };
}

/** The size of a duration by other means than ours: plain floating-point sums. */
function nanosecondsOf(text: string): number {
  const units: Readonly<Record<string, number>> = {
    ns: 1,
    us: 1e3,
    µs: 1e3,
    μs: 1e3,
    ms: 1e6,
    s: 1e9,
    m: 6e10,
    h: 3.6e12,
  };
  const terms = text.matchAll(/([0-9.]+)([a-zµμ]+)/gu);
  return [...terms].reduce(
    (sum, [, amount, unit = ""]) => sum + Math.floor(Number(amount) * (units[unit] ?? 0)),
    0,
  );
}

/** RFC 3339 by other means than ours: the engine's own calendar, asked twice. */
function isTime(text: string): boolean {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.exec(text);
  const [, local = "", zone = ""] = parts ?? [];
  const instant = new Date(`${local}Z`);
  if (Number.isNaN(instant.getTime()) || instant.toISOString().slice(0, 19) !== local) return false;
  return zone === "Z" || (Number(zone.slice(1, 3)) < 24 && Number(zone.slice(4)) < 60);
}
