import { describe, expect, test } from "vitest";
import { KINDS } from "../crd/definition.ts";
import { acknowledgementSchema } from "../wire/instructions.ts";
import { fitToSchema } from "./fit-to-schema.ts";
import type { SchemaNode } from "./node.ts";
import { describeProblems } from "./problem.ts";
import { validate } from "./validate.ts";

interface FreeText {
  readonly path: string;
  readonly maxLength: number;
  /** A value of the whole with this text in it. */
  readonly put: (text: string) => unknown;
}

/** Every text of a schema that people or peers fill with words. */
function freeTexts(node: SchemaNode): FreeText[] {
  if (node.properties !== undefined) {
    return Object.entries(node.properties).flatMap(([name, child]) =>
      freeTexts(child).map(({ path, maxLength, put }) => ({
        path: `${name}${path === "" || path.startsWith("[") ? "" : "."}${path}`,
        maxLength,
        put: (text) => ({ ...neighbours(node, name), [name]: put(text) }),
      })),
    );
  }
  if (node.items !== undefined) {
    return freeTexts(node.items).map(({ path, maxLength, put }) => ({
      path: `[].${path}`,
      maxLength,
      put: (text) => [put(text)],
    }));
  }
  const isFree =
    node.type === "string" &&
    node.format === undefined &&
    node.enum === undefined &&
    (node.pattern === undefined || node["x-expects"] === "one line of plain text");
  return isFree ? [{ path: "", maxLength: node.maxLength ?? 0, put: (text) => text }] : [];
}

/** The required fields beside one, as their examples show them. */
function neighbours({ properties = {}, required = [] }: SchemaNode, name: string): Record<string, unknown> {
  return Object.fromEntries(
    required.filter((each) => each !== name).map((each) => [each, exampleOf(properties[each])]),
  );
}

function exampleOf(node: SchemaNode | undefined): unknown {
  if (node?.properties !== undefined) return neighbours(node, "");
  return node?.examples?.[0] ?? node?.enum?.[0] ?? "";
}

const rows = KINDS.flatMap(({ kind, status }) =>
  freeTexts(status).map((text) => ({ ...text, name: `${kind}.status.${text.path}`, status })),
);

describe("a status text that is one character too long", () => {
  test("is looked for in every kind", () => {
    const kinds = new Set(rows.map(({ name }) => name.split(".")[0]));
    expect([...kinds]).toEqual(KINDS.map(({ kind }) => kind));
    expect(rows.map(({ name }) => name)).toContain("ResourceRequest.status.conditions[].message");
  });

  test.each(rows)("$name is cut to $maxLength", ({ status, maxLength, put }) => {
    const long = put("x".repeat(maxLength + 1));
    expect(validate(status, long).ok).toBe(false);
    expect(validate(status, put("x".repeat(maxLength))).ok).toBe(true);
    const checked = validate(status, fitToSchema(status, long));
    expect(checked.ok ? "" : describeProblems(checked.problems)).toBe("");
    expect(fitToSchema(status, fitToSchema(status, long))).toEqual(fitToSchema(status, long));
  });

  test.each(rows)("$name is made safe, and then still fits", ({ status, maxLength, put }) => {
    const hostile = put("\u001b[2J\u202e\ud83d\ude80".repeat(Math.ceil(maxLength / 4)));
    const written = fitToSchema(status, hostile);
    expect(validate(status, written).ok).toBe(true);
    expect(JSON.stringify(written)).not.toMatch(/\\u001b|\u202e|\\ud8/u);
  });
});

test("names, times and choices stay as they are", () => {
  const [kind] = KINDS.filter(({ kind }) => kind === "ResourceRequest");
  const status = { phase: "Reserved", reservationName: "r".repeat(400), message: "one\ntwo" };
  expect(fitToSchema(kind?.status ?? { type: "object" }, status)).toEqual(status);
});

test("the reason of a refusal stays on its line", () => {
  const written = fitToSchema(acknowledgementSchema, {
    state: "refused",
    reason: `no room\n${"x".repeat(600)}`,
  });
  expect(validate(acknowledgementSchema, written).ok).toBe(true);
});
