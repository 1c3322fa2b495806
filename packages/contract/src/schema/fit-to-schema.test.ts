import { describe, expect, test } from "vitest";
import { clusterAdvertisementKind } from "../crd/cluster-advertisement.ts";
import { KINDS } from "../crd/definition.ts";
import { acknowledgementSchema } from "../wire/instructions.ts";
import { fitToSchema } from "./fit-to-schema.ts";
import type { SchemaNode } from "./node.ts";
import { validate } from "./validate.ts";

/** Every text of a schema that people or peers fill with words. */
function freeTexts(node: SchemaNode): SchemaNode[] {
  const isFree =
    node.type === "string" &&
    node.format === undefined &&
    node.enum === undefined &&
    (node.pattern === undefined || node["x-expects"] === "one line of plain text");
  const children = [
    ...Object.values(node.properties ?? {}),
    ...(node.items === undefined ? [] : [node.items]),
  ];
  return isFree ? [node] : children.flatMap(freeTexts);
}

const HOSTILE = "\u001b[2J\u202e\ud83d\ude80";
const rows = KINDS.flatMap(({ kind, status }) =>
  freeTexts(status).map((node) => ({ kind, node, most: node.maxLength ?? 0 })),
);

describe("a status text that is one character too long", () => {
  test("is looked for in every kind", () => {
    expect([...new Set(rows.map(({ kind }) => kind))]).toEqual(KINDS.map(({ kind }) => kind));
  });

  test.each(rows)("$kind: '$node.description' is cut to $most", ({ node, most }) => {
    const long = "x".repeat(most + 1);
    expect([validate(node, long).ok, validate(node, "x".repeat(most)).ok]).toEqual([false, true]);
    const fitted = fitToSchema(node, long);
    expect(validate(node, fitted)).toMatchObject({ ok: true });
    expect(fitToSchema(node, fitted)).toEqual(fitted);
  });

  test.each(rows)("$kind: '$node.description' is made safe, and then still fits", ({ node, most }) => {
    const written = fitToSchema(node, HOSTILE.repeat(Math.ceil(most / 4)));
    expect(validate(node, written).ok).toBe(true);
    expect(JSON.stringify(written)).not.toMatch(/\\u001b|\u202e|\\ud8/u);
  });

  test("is found inside of objects and lists", () => {
    const long = HOSTILE.repeat(8192);
    const [reason, time] = ["Granted", "2026-07-01T10:00:00Z"];
    const condition = { type: "Ready", status: "True", lastTransitionTime: time, reason, message: long };
    const status = { refused: { timestamp: time, code: reason, message: long }, conditions: [condition] };
    const kind = clusterAdvertisementKind.status as SchemaNode;
    expect(validate(kind, status).ok).toBe(false);
    expect(validate(kind, fitToSchema(kind, status)).ok).toBe(true);
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
