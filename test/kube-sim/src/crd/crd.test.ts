import { readdirSync, readFileSync } from "node:fs";
import { ADMISSION_CASES, GOOD_OBJECTS } from "@resource-broker/contract/testing";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { ResourceDefinition, Write } from "../api/cluster-api.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { columnsOf, readJsonPath } from "./columns.ts";
import { admitDefinition, definitionsOf } from "./definition.ts";

const CRDS = new URL("../../../../deploy/crds/", import.meta.url);

function definitionsIn(crd: JsonObject): readonly ResourceDefinition[] {
  const admission = admitDefinition(write(crd));
  if (!admission.ok) throw new Error(JSON.stringify(admission.causes));
  return definitionsOf(admission.object);
}

function write(object: JsonObject, more: Partial<Write> = {}): Write {
  return { object, isStatus: false, fieldValidation: "Strict", ...more };
}

const ours = new Map(
  readdirSync(CRDS)
    .filter((file) => file.includes("_"))
    .flatMap((file) => definitionsIn(parse(readFileSync(new URL(file, CRDS), "utf8")) as JsonObject))
    .map((definition) => [definition.kind, definition]),
);

function definitionOf(kind: string): ResourceDefinition {
  const definition = ours.get(kind);
  if (definition === undefined) throw new Error(`there is no definition of ${kind}`);
  return definition;
}

describe("our own definitions", () => {
  it("are installed as they are shipped", () => {
    expect([...ours.keys()].toSorted()).toEqual(Object.keys(GOOD_OBJECTS).toSorted());
  });

  // The same cases run on a real API server: test/testkit/src/control-plane/crds.test.ts.
  it.each(ADMISSION_CASES.map((row) => [row.name, row] as const))("%s", (_name, row) => {
    const { kind, object, old, refusal } = row;
    const admission = definitionOf(kind).admit(write(object, old === undefined ? {} : { old }));
    if (refusal === undefined) {
      expect(admission).toMatchObject({ ok: true, object });
      return;
    }
    expect(admission).toMatchObject({ ok: false, code: 422 });
    const causes = admission.ok ? [] : admission.causes;
    expect(causes).toContainEqual(
      expect.objectContaining({ field: refusal.field, message: expect.stringContaining(refusal.message) }),
    );
  });
});

it("an object that broke a rule before there was one may be written as long as its spec stays", () => {
  const good = GOOD_OBJECTS["ResourceRequest"] ?? {};
  const { queue: _queue, ...spec } = good["spec"] as JsonObject;
  const old = { ...good, spec };
  const object = { ...old, status: { phase: "Reserved" } };
  for (const isStatus of [true, false])
    expect(definitionOf("ResourceRequest").admit(write(object, { old, isStatus }))).toMatchObject({
      ok: true,
    });
  const edited = { ...old, spec: { ...spec, requestedCPU: "2" } };
  expect(definitionOf("ResourceRequest").admit(write(edited, { old }))).toMatchObject({ ok: false });
});

describe("unknown fields", () => {
  const good = GOOD_OBJECTS["ResourceRequest"] ?? {};
  const object = { ...good, more: 1, spec: { ...(good["spec"] as JsonObject), typo: {} } };
  const messages = ['unknown field "more"', 'unknown field "spec.typo"'];

  it("are a bad request when they are judged strictly", () => {
    expect(definitionOf("ResourceRequest").admit(write(object))).toMatchObject({
      ok: false,
      code: 400,
      causes: messages.map((message) => ({ message })),
    });
  });

  it.each([
    ["Warn", messages],
    ["Ignore", []],
  ] as const)("are dropped with fieldValidation=%s", (fieldValidation, warnings) => {
    const admission = definitionOf("ResourceRequest").admit(write(object, { fieldValidation }));
    expect(admission).toEqual({ ok: true, object: good, warnings });
  });
});

/** A definition of the kind Thing in example.com/v1. */
function thing(schema: JsonObject, spec: JsonObject = {}): JsonObject {
  return {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { kind: "Thing", plural: "things" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      ...spec,
    },
  };
}

const field = (schema: JsonObject): JsonObject =>
  thing({ type: "object", properties: { a: { type: "string", ...schema } } });
const list = (keywords: JsonObject): JsonObject => ({
  type: "array",
  items: { type: "object", properties: { k: { type: "string" }, n: { type: "integer", default: 7 } } },
  ...keywords,
});

describe("what a schema makes of a value", () => {
  const rows: readonly (readonly [name: string, schema: JsonObject, now: JsonValue, result: JsonValue])[] = [
    ["a default is filled in", { type: "string", default: "x" }, null, "x"],
    ["null is dropped where it is not allowed", { type: "string" }, null, null],
    ["null stays where it is allowed", { type: "string", nullable: true }, null, null],
    ["items get their defaults", list({}), [{ k: "a" }], [{ k: "a", n: 7 }]],
    ["fields of unknown shape stay", { "x-kubernetes-preserve-unknown-fields": true }, { b: 1 }, { b: 1 }],
  ];
  it.each(rows)("%s", (_name, schema, now, result) => {
    const [definition] = definitionsIn(thing({ type: "object", properties: { a: schema } }));
    const admission = definition?.admit(write({ a: now }));
    expect(admission).toMatchObject({ ok: true });
    expect((admission?.ok === true ? admission.object["a"] : undefined) ?? null).toEqual(result);
  });

  const wrong: readonly (readonly [schema: JsonObject, value: JsonValue, message: string])[] = [
    [{ type: "integer" }, "1", 'must be of type integer: "string"'],
    [{ type: "integer", format: "int32" }, 2 ** 31, "must be of type integer with format int32"],
    [{ type: "number", maximum: 1 }, 1.5, "should be less than or equal to 1"],
    [{ type: "string", format: "date-time" }, "today", "must be of type date-time"],
    [{ type: "string", format: "cidr" }, "10.0.0.0/40", "must be of type cidr"],
    [{ type: "string", enum: ["x", "y"] }, "z", 'supported values: "x", "y"'],
    [{ type: "array", items: { type: "string" }, minItems: 1 }, [], "should have at least 1 items"],
    [
      list({ "x-kubernetes-list-type": "set" }),
      [
        { k: "a", n: 1 },
        { k: "a", n: 1 },
      ],
      "Duplicate value",
    ],
    [
      list({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"] }),
      [
        { k: "a", n: 2 },
        { k: "a", n: 1 },
      ],
      "Duplicate value",
    ],
    [
      { type: "string", "x-kubernetes-validations": [{ rule: "self.size() > self" }] },
      "a",
      "no such overload",
    ],
  ];
  it.each(wrong)("%j refuses %j: %s", (schema, value, message) => {
    const [definition] = definitionsIn(thing({ type: "object", properties: { a: schema } }));
    const refused = definition?.admit(write({ a: value }));
    expect(refused).toMatchObject({ ok: false, code: 422 });
    expect(
      JSON.stringify(refused?.ok === false ? refused.causes.map((cause) => cause.message) : []),
    ).toContain(JSON.stringify(message).slice(1, -1));
    // What was wrong before and did not change is not judged again.
    const kept = definition?.admit(
      write({ a: value, b: 1 }, { old: { a: value }, fieldValidation: "Ignore" }),
    );
    expect(kept).toMatchObject({ ok: !message.includes("overload") });
  });
});

describe("a definition that this server cannot serve is refused", () => {
  const rows: readonly (readonly [name: string, crd: JsonObject, message: string])[] = [
    ["another name", { ...field({}), metadata: { name: "other" } }, "must be spec.names.plural"],
    ["webhooks", thing({}, { conversion: { strategy: "Webhook" } }), "does not call conversion webhooks"],
    ["no stored version", thing({}, { versions: [] }), "exactly one version marked as storage"],
    ["no schema", thing({}, { versions: [{ name: "v1", storage: true }] }), "schemas are required"],
    ["a keyword", field({ not: {} }), "does not support not in schemas"],
    [
      "a rule's option",
      field({ "x-kubernetes-validations": [{ optionalOldSelf: true }] }),
      "optionalOldSelf",
    ],
    ["a rule's function", field({ "x-kubernetes-validations": [{ rule: "isIP(self)" }] }), "isIP"],
  ];
  it.each(rows)("%s", (_name, crd, message) => {
    const admission = admitDefinition(write(crd));
    expect(JSON.stringify(admission)).toContain(message);
    expect(admission.ok).toBe(false);
  });
});

describe("a column shows what its path leads to", () => {
  const object: JsonObject = {
    metadata: { creationTimestamp: "2026-07-01T09:54:40Z", labels: { "liqo.io/x": "dotted" } },
    spec: { whole: 3, part: 0.5, yes: true, list: ["x", "y"], map: { b: 1, a: 2 }, empty: "" },
    status: { conditions: [{ type: "Synced" }, { type: "Ready", status: "True" }] },
  };
  const rows: readonly (readonly [type: string, path: string, shown: JsonValue])[] = [
    ["string", ".spec.whole", "3"],
    ["string", ".spec.map", '{"a":2,"b":1}'],
    ["string", ".spec.missing.deeper", null],
    ["string", ".metadata.labels.liqo\\.io/x", "dotted"],
    ["string", ".spec.list[1]", "y"],
    ["string", ".spec.list[*]", "x"],
    ["string", '.status.conditions[?(@.type=="Ready")].status', "True"],
    ["string", ".status.conditions[?(@.type=='Gone')].status", null],
    ["integer", ".spec.part", 0],
    ["number", ".spec.part", 0.5],
    ["boolean", ".spec.yes", true],
    ["date", ".metadata.creationTimestamp", "5m20s"],
    ["date", ".spec.empty", "<unknown>"],
  ];
  it.each(rows)("%s %s is %j", (type, jsonPath, shown) => {
    const [column] = columnsOf({ additionalPrinterColumns: [{ name: "C", type, jsonPath }] });
    expect(column?.cell(object, Date.parse("2026-07-01T10:00:00Z"))).toBe(shown);
  });

  it("is refused where the path cannot be followed", () => {
    expect(() => readJsonPath(".spec..x")).toThrow("kube-sim cannot follow ..x");
  });
});
