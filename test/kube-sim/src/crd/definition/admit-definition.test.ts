import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../json.ts";
import { definitionsOf } from "../definitions-of.ts";
import { definitionWith } from "../testing/definition-with.ts";
import { admitDefinition } from "./admit-definition.ts";

const SCHEMA: JsonObject = {
  type: "object",
  description: "A thing.",
  properties: { spec: { type: "object", properties: { x: { type: "string" }, n: { type: "integer" } } } },
};
const GOOD = definitionWith(SCHEMA);

function admit(object: JsonObject, old?: JsonObject) {
  return admitDefinition({
    object,
    isStatus: false,
    fieldValidation: "Strict",
    ...(old === undefined ? {} : { old }),
  });
}

function admitted(object: JsonObject): JsonObject {
  const admission = admit(object);
  if (!admission.ok) throw new Error(JSON.stringify(admission.causes));
  return admission.object;
}

/** The definition with another `spec`. */
function withSpec(change: JsonObject): JsonObject {
  return { ...GOOD, spec: { ...(GOOD["spec"] as JsonObject), ...change } };
}

function withNames(names: JsonObject): JsonObject {
  return withSpec({ names: { kind: "Thing", plural: "things", ...names } });
}

function withVersion(version: JsonObject): JsonObject {
  return definitionWith(SCHEMA, version);
}

const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } };

describe("a definition that is admitted", () => {
  it("gets the names it left out, and is established", () => {
    const created = {
      ...GOOD,
      metadata: { name: "things.example.com", creationTimestamp: "2026-07-01T10:00:00Z" },
    };
    expect(admitted(created)).toMatchObject({
      spec: { names: { singular: "thing", listKind: "ThingList" }, conversion: { strategy: "None" } },
      status: {
        acceptedNames: { kind: "Thing", plural: "things", singular: "thing", listKind: "ThingList" },
        storedVersions: ["v1"],
        conditions: [
          {
            type: "NamesAccepted",
            status: "True",
            reason: "NoConflicts",
            lastTransitionTime: "2026-07-01T10:00:00Z",
          },
          { type: "Established", status: "True", reason: "InitialNamesAccepted" },
        ],
      },
    });
  });

  it("remembers the versions that objects were stored in", () => {
    const old = admitted(GOOD);
    const versions = [
      { ...version, storage: false },
      { ...version, name: "v2" },
    ];
    const admission = admit(withSpec({ versions }), old);
    expect(admission).toMatchObject({ ok: true, object: { status: { storedVersions: ["v1", "v2"] } } });
  });

  it("is admitted again as it is", () => {
    const once = admitted(GOOD);
    expect(admit(once, once)).toEqual({ ok: true, object: once, warnings: [] });
  });
});

describe("a definition that is refused", () => {
  const LABEL = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'";
  const rows: readonly (readonly [name: string, object: JsonObject, field: string, message: string])[] = [
    [
      "another name than its plural and group",
      { ...GOOD, metadata: { name: "thing.example.com" } },
      "metadata.name",
      'Invalid value: "thing.example.com": must be spec.names.plural+"."+spec.group',
    ],
    ["no group", withSpec({ group: "" }), "spec.group", "Required value"],
    [
      "a group without a dot",
      withSpec({ group: "example" }),
      "spec.group",
      'Invalid value: "example": should be a domain with at least one dot',
    ],
    ["no scope", withSpec({ scope: "" }), "spec.scope", "Required value"],
    [
      "an unknown scope",
      withSpec({ scope: "Galaxy" }),
      "spec.scope",
      'Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"',
    ],
    [
      "no kind",
      withSpec({ names: { plural: "things", singular: "thing" } }),
      "spec.names.kind",
      "Required value",
    ],
    [
      "a kind with a space",
      withNames({ kind: "My Thing" }),
      "spec.names.kind",
      `Invalid value: "My Thing": may have mixed case, but should otherwise match: ${LABEL}`,
    ],
    [
      "a list kind like the kind",
      withNames({ listKind: "Thing" }),
      "spec.names.listKind",
      'Invalid value: "Thing": kind and listKind may not be the same',
    ],
    [
      "a wrong short name",
      withNames({ shortNames: ["T"] }),
      "spec.names.shortNames[0]",
      `Invalid value: "T": ${LABEL}`,
    ],
    [
      "no storage version",
      withSpec({ versions: [{ ...version, storage: false }] }),
      "spec.versions",
      "Invalid value: must have exactly one version marked as storage version",
    ],
    [
      "two storage versions",
      withSpec({ versions: [version, { ...version, name: "v2" }] }),
      "spec.versions",
      "Invalid value: must have exactly one version marked as storage version",
    ],
    [
      "a version twice",
      withSpec({ versions: [version, { ...version, storage: false }] }),
      "spec.versions",
      "Invalid value: must contain unique version names",
    ],
    [
      "a version of a wrong name",
      withVersion({ name: "V1" }),
      "spec.versions[0].name",
      `Invalid value: "V1": ${LABEL}`,
    ],
    ["no schema", withVersion({ schema: {} }), "spec.validation.openAPIV3Schema", "Required value"],
    [
      "a conversion webhook",
      withSpec({ conversion: { strategy: "Webhook" } }),
      "spec.conversion.strategy",
      "Forbidden: kube-sim does not call conversion webhooks: use None",
    ],
    [
      "unknown fields that are kept",
      withSpec({ preserveUnknownFields: true }),
      "spec.preserveUnknownFields",
      "Invalid value: true: cannot set to true",
    ],
    [
      "a scale subresource",
      withVersion({ subresources: { scale: {} } }),
      "spec.subresources.scale",
      "Forbidden: kube-sim does not serve the scale subresource",
    ],
    [
      "a column without a type",
      withVersion({ additionalPrinterColumns: [{ name: "A", jsonPath: ".a" }] }),
      "spec.additionalPrinterColumns[0].type",
      "Required value: must be one of boolean,date,integer,number,string",
    ],
    [
      "a column without its dot",
      withVersion({ additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: "a" }] }),
      "spec.additionalPrinterColumns[0].JSONPath",
      'Invalid value: "a": must be a simple json path starting with .',
    ],
    [
      "a column that cannot be followed",
      withVersion({ additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: "..a" }] }),
      "spec.additionalPrinterColumns[0].JSONPath",
      'Invalid value: "..a": kube-sim cannot follow ..a',
    ],
    [
      "an unknown column format",
      withVersion({ additionalPrinterColumns: [{ name: "A", type: "string", format: "x", jsonPath: ".a" }] }),
      "spec.additionalPrinterColumns[0].format",
      'Invalid value: "x": must be one of byte,date,',
    ],
    [
      "a selectable field that does not exist",
      withVersion({ selectableFields: [{ jsonPath: ".spec.typo" }] }),
      "spec.selectableFields[0].jsonPath",
      'Invalid value: ".spec.typo": is an invalid path: does not refer to a valid field',
    ],
    [
      "a selectable object",
      withVersion({ selectableFields: [{ jsonPath: ".spec" }] }),
      "spec.selectableFields[0].jsonPath",
      'Invalid value: ".spec": must point to a field of type string, boolean or integer.',
    ],
    [
      "a selectable field twice",
      withVersion({ selectableFields: [{ jsonPath: ".spec.x" }, { jsonPath: ".spec.x" }] }),
      "spec.selectableFields[1].jsonPath",
      'Duplicate value: ".spec.x"',
    ],
    [
      "a format that is not checked here",
      definitionWith({ type: "object", properties: { a: { type: "string", format: "isbn" } } }),
      "spec.validation.openAPIV3Schema.properties[a].format",
      'Invalid value: "isbn": kube-sim does not check this format',
    ],
    [
      "a rule with a function that kube-sim has not",
      definitionWith({
        type: "object",
        properties: { a: { type: "string", "x-kubernetes-validations": [{ rule: "isIP(self)" }] } },
      }),
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations[0].rule",
      'Invalid value: {"Rule":"isIP(self)","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: kube-sim does not have Kubernetes\' function \'isIP\'',
    ],
    [
      "a rule where nothing is known",
      definitionWith({
        type: "object",
        properties: {
          a: { "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{ rule: "true" }] },
        },
      }),
      "spec.validation.openAPIV3Schema.properties[a].x-kubernetes-validations",
      'Invalid value: "": rules cannot be used where the schema does not say what is there',
    ],
    [
      "a default that breaks a rule",
      definitionWith({
        type: "object",
        properties: {
          a: {
            type: "string",
            default: "b",
            "x-kubernetes-validations": [{ rule: "self != 'b'", message: "not b" }],
          },
        },
      }),
      "spec.validation.openAPIV3Schema.properties[a].default",
      'Invalid value: "b": not b',
    ],
  ];
  it.each(rows)("for %s", (_name, object, field, message) => {
    const admission = admit(object);
    expect(admission).toMatchObject({ ok: false, code: 422 });
    const causes = admission.ok ? [] : admission.causes;
    expect(causes.filter((cause) => cause.field === field && cause.message.startsWith(message))).toHaveLength(
      1,
    );
  });

  it.each([
    ["spec.scope", withSpec({ scope: "Cluster" })],
    ["spec.names.kind", withNames({ kind: "Other" })],
  ])("for a change of %s", (field, object) => {
    const admission = admit(object, admitted(GOOD));
    expect(admission).toMatchObject({ ok: false });
    expect(admission.ok ? [] : admission.causes).toContainEqual(
      expect.objectContaining({ field, message: expect.stringContaining("field is immutable") }),
    );
  });

  it("for words that no schema has", () => {
    const object = definitionWith({ type: "object", properties: { a: { type: "string", maxLenght: 3 } } });
    const message = 'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.a.maxLenght"';
    expect(admit(object)).toMatchObject({ ok: false, code: 400, causes: [{ message }] });
    const warned = admitDefinition({ object, isStatus: false, fieldValidation: "Warn" });
    expect(warned).toMatchObject({ ok: true, warnings: [message] });
  });
});

describe("the kinds that a definition adds", () => {
  const full = withSpec({
    scope: "Cluster",
    names: { kind: "Thing", plural: "things", shortNames: ["th"], categories: ["all"] },
    versions: [
      {
        ...version,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: "X", type: "string", jsonPath: ".spec.x" }],
        selectableFields: [{ jsonPath: ".spec.x" }, { jsonPath: ".spec.n" }],
      },
      { ...version, name: "v2", storage: false },
      { ...version, name: "v3", storage: false, served: false },
    ],
  });

  it("are one for each version that is served", () => {
    expect(definitionsOf(admitted(full))).toMatchObject([
      {
        group: "example.com",
        version: "v1",
        kind: "Thing",
        listKind: "ThingList",
        plural: "things",
        singular: "thing",
        shortNames: ["th"],
        categories: ["all"],
        isNamespaced: false,
        hasStatus: true,
        hasGeneration: true,
        columns: [{ name: "X" }],
      },
      { version: "v2", hasStatus: false, columns: [{ name: "Age" }] },
    ]);
  });

  it("can be selected by the fields they name", () => {
    const [definition] = definitionsOf(admitted(full));
    const { "spec.x": x, "spec.n": n } = definition?.selectableFields ?? {};
    expect([x?.({ spec: { x: "a" } }), x?.({}), n?.({ spec: { n: 3 } })]).toEqual(["a", "", "3"]);
  });

  it("are published with the fields that every object has", () => {
    const [definition] = definitionsOf(admitted(full));
    expect(definition?.schema).toMatchObject({
      type: "object",
      description: "A thing.",
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { properties: { name: { type: "string" } } },
        spec: { properties: { x: { type: "string" } } },
      },
      "x-kubernetes-group-version-kind": [{ group: "example.com", version: "v1", kind: "Thing" }],
    });
  });
});
