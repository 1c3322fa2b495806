import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SchemaNode } from "../src/schema/node.ts";
import { describeProblems } from "../src/schema/problem.ts";
import { validate } from "../src/schema/validate.ts";
import { arbitraryOf } from "../src/testing/arbitrary.ts";
import { type Bound, boundedSchemas, boundsIn } from "./limits-reference.ts";

const BOUNDS = boundedSchemas().flatMap(([name, node]) =>
  boundsIn(node, "").map((bound) => ({ where: `${name} ${bound.path}`, ...bound })),
);

function valuesOf(node: SchemaNode, count: number): unknown[] {
  return fc.sample(arbitraryOf(node), { numRuns: Math.min(count, 5), seed: 1 });
}

function named(node: SchemaNode, size: number): unknown {
  const [value] = valuesOf(node.additionalProperties ?? { type: "string" }, 1);
  const sample = { numRuns: 20 * size, seed: 1 };
  const names = fc.sample(arbitraryOf(node.propertyNames ?? { type: "string" }), sample).map(String);
  const distinct = [...new Set(names)].slice(0, size);
  return distinct.length < size ? undefined : Object.fromEntries(distinct.map((name) => [name, value]));
}

/** A value with exactly so many parts; undefined where a pattern decides which texts there are. */
function sized({ node, kind }: Bound, size: number): unknown {
  switch (kind) {
    case "items": {
      const items = valuesOf(node.items ?? { type: "string" }, size);
      return Array.from({ length: size }, (_, index) => items[index % items.length]);
    }
    case "names":
      return named(node, size);
    case "characters":
      return node.pattern !== undefined || node.format !== undefined ? undefined : "x".repeat(size);
    case "number":
      return size;
  }
}

test("there are bounds to try", () => {
  expect(BOUNDS.length).toBeGreaterThan(150);
});

describe("one beyond its bound is refused, with a word on it", () => {
  test.each(BOUNDS)("$where: $most $kind", (bound) => {
    const { node, kind, most } = bound;
    const atMost = sized(bound, most);
    if (atMost !== undefined) expect(validate(node, atMost)).toMatchObject({ ok: true });
    const beyond = sized(bound, most + 1) ?? (kind === "names" ? tooMany(most + 1) : "x".repeat(most + 1));
    const checked = validate(node, beyond);
    expect(checked.ok).toBe(false);
    const message = checked.ok ? "" : describeProblems(checked.problems);
    expect(message).toMatch(kind === "number" ? /must be/ : /at most|is not/);
  });
});

function tooMany(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, ""]));
}
