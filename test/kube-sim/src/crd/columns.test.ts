import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../json.ts";
import { columnsOf } from "./columns.ts";
import { readJsonPath } from "./json-path.ts";

const NOW_MS = Date.parse("2026-07-01T10:00:00Z");
const object: JsonObject = {
  metadata: { creationTimestamp: "2026-07-01T09:54:40Z", annotations: { "a.b/c": "dotted" } },
  spec: {
    text: "a",
    whole: 3,
    part: 0.5,
    yes: true,
    list: ["x", "y"],
    map: { b: 1, a: 2 },
    none: null,
    empty: "",
  },
  status: {
    conditions: [
      { type: "Synced", status: "False", n: 1 },
      { type: "Ready", status: "True", n: 2 },
    ],
  },
};

function cell(type: string, jsonPath: string): JsonValue | undefined {
  const [column] = columnsOf({ additionalPrinterColumns: [{ name: "C", type, jsonPath }] });
  return column?.cell(object, NOW_MS);
}

describe("a column shows what its path leads to", () => {
  const rows: readonly (readonly [type: string, path: string, shown: JsonValue])[] = [
    ["string", ".spec.text", "a"],
    ["string", ".spec.whole", "3"],
    ["string", ".spec.part", "0.5"],
    ["string", ".spec.yes", "true"],
    ["string", ".spec.list", '["x","y"]'],
    ["string", ".spec.map", '{"a":2,"b":1}'],
    ["string", ".spec.none", "<no value>"],
    ["string", ".spec.missing", null],
    ["string", ".spec.text.deeper", null],
    ["string", ".metadata.annotations.a\\.b/c", "dotted"],
    ["string", ".metadata.annotations['a.b/c']", "dotted"],
    ["string", ".spec.list[0]", "x"],
    ["string", ".spec.list[-1]", "y"],
    ["string", ".spec.list[7]", null],
    ["string", ".status.conditions[*].type", "Synced"],
    ["string", '.status.conditions[?(@.type=="Ready")].status', "True"],
    ["string", ".status.conditions[?(@.type=='Ready')].status", "True"],
    ["string", '.status.conditions[?(@.type!="Synced")].status', "True"],
    ["integer", ".status.conditions[?(@.n>1)].n", 2],
    ["string", '.status.conditions[?(@.type=="Gone")].status', null],
    ["integer", ".spec.whole", 3],
    ["integer", ".spec.part", 0],
    ["integer", ".spec.text", null],
    ["number", ".spec.part", 0.5],
    ["number", ".spec.text", null],
    ["boolean", ".spec.yes", true],
    ["boolean", ".spec.text", null],
    ["date", ".metadata.creationTimestamp", "5m20s"],
    ["date", ".spec.text", "<invalid>"],
    ["date", ".spec.empty", "<unknown>"],
    ["date", ".spec.missing", null],
  ];
  it.each(rows)("%s %s is %j", (type, path, shown) => {
    expect(cell(type, path)).toBe(shown);
  });
});

describe("the columns of a version", () => {
  it("are its age when none are named", () => {
    expect(columnsOf({}).map(({ name, type, priority }) => ({ name, type, priority }))).toEqual([
      { name: "Age", type: "date", priority: 0 },
    ]);
  });

  it("keep their format, priority and description, and say their path when they have none", () => {
    const columns = columnsOf({
      additionalPrinterColumns: [
        { name: "A", type: "integer", format: "int32", priority: 1, description: "d", jsonPath: ".a" },
        { name: "B", type: "string", jsonPath: ".b" },
      ],
    });
    expect(columns).toMatchObject([
      { name: "A", type: "integer", format: "int32", priority: 1, description: "d" },
      {
        name: "B",
        type: "string",
        priority: 0,
        description: "Custom resource definition column (in JSONPath format): .b",
      },
    ]);
  });
});

describe("a path that cannot be followed is refused", () => {
  it.each([".spec..x", ".spec[0:2]", ".spec['a','b']", ".spec[?(@.a=~'x')]", "spec", ".spec["])(
    "%s",
    (path) => {
      expect(readJsonPath(path).ok).toBe(false);
    },
  );
});
