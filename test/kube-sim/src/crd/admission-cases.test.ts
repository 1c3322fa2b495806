import { ADMISSION_CASES, GOOD_OBJECTS } from "@resource-broker/contract/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ResourceDefinition, Write } from "../api/definition.ts";
import { objectAt } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { pruned } from "./prune.ts";
import { readSchema, type Schema } from "./schema.ts";
import { ourDefinitionFiles, ourDefinitions } from "./testing/our-definitions.ts";

const definitions = ourDefinitions();

function definitionOf(kind: string): ResourceDefinition {
  const definition = definitions.get(kind);
  if (definition === undefined) throw new Error(`there is no definition of ${kind}`);
  return definition;
}

function write(object: JsonObject, more: Partial<Write> = {}): Write {
  return { object, isStatus: false, fieldValidation: "Strict", ...more };
}

describe("our own definitions", () => {
  it("are installed as they are shipped", () => {
    expect([...definitions.keys()].toSorted()).toEqual(Object.keys(GOOD_OBJECTS).toSorted());
  });

  it.each(ADMISSION_CASES.map((row) => [row.name, row] as const))("%s", (_name, row) => {
    const { kind, object, old, refusal } = row;
    const admission = definitionOf(kind).admit(write(object, old === undefined ? {} : { old }));
    if (refusal === undefined) {
      expect(admission).toMatchObject({ ok: true, object });
      return;
    }
    expect(admission).toMatchObject({ ok: false, code: 422 });
    const causes = admission.ok ? [] : admission.causes;
    const blamed = causes.filter(({ field }) => field === refusal.field);
    expect(blamed.map(({ message }) => message).join("\n")).toContain(refusal.message);
    expect(blamed.some(({ message }) => message.includes(" in body "))).toBe(
      !refusal.isRule &&
        blamed.some(({ reason }) => reason !== "FieldValueRequired" && reason !== "FieldValueNotSupported"),
    );
  });
});

describe("unknown fields", () => {
  const object = {
    ...GOOD_OBJECTS["ResourceRequest"],
    more: 1,
    spec: { ...objectAt(good("ResourceRequest"), "spec"), typo: {} },
  };

  it("are a bad request when they are judged strictly", () => {
    expect(definitionOf("ResourceRequest").admit(write(object))).toEqual({
      ok: false,
      code: 400,
      causes: [
        { reason: "FieldValueInvalid", field: "more", message: 'unknown field "more"' },
        { reason: "FieldValueInvalid", field: "spec.typo", message: 'unknown field "spec.typo"' },
      ],
    });
  });

  it("are dropped with a warning when asked to warn", () => {
    expect(definitionOf("ResourceRequest").admit(write(object, { fieldValidation: "Warn" }))).toEqual({
      ok: true,
      object: good("ResourceRequest"),
      warnings: ['unknown field "more"', 'unknown field "spec.typo"'],
    });
  });

  it("are dropped in silence when asked to ignore them", () => {
    expect(definitionOf("ResourceRequest").admit(write(object, { fieldValidation: "Ignore" }))).toEqual({
      ok: true,
      object: good("ResourceRequest"),
      warnings: [],
    });
  });
});

describe("an object of another kind", () => {
  it("is refused by its kind and version alone", () => {
    const object = { ...good("ResourceRequest"), kind: "Other", apiVersion: "rear.fluidos.eu/v2" };
    expect(definitionOf("ResourceRequest").admit(write(object))).toMatchObject({
      ok: false,
      causes: [
        { field: "kind", message: 'Invalid value: "Other": must be ResourceRequest' },
        {
          field: "apiVersion",
          message: 'Invalid value: "rear.fluidos.eu/v2": must be rear.fluidos.eu/v1alpha1',
        },
      ],
    });
  });
});

describe("properties of admission", () => {
  const schemas = new Map(
    ourDefinitionFiles().map((crd) => {
      const [version = {}] = objectAt(crd, "spec")["versions"] as readonly JsonObject[];
      const kind = objectAt(crd, "spec.names")["kind"] as string;
      return [kind, readSchema(objectAt(version, "schema.openAPIV3Schema"))] as const;
    }),
  );
  const schemaOf = (kind: string): Schema => {
    const schema = schemas.get(kind);
    if (schema === undefined) throw new Error(`there is no schema of ${kind}`);
    return schema;
  };
  const kinds = Object.keys(GOOD_OBJECTS);
  /** A good object with foreign values put anywhere in it. */
  const damaged = fc
    .record({
      kind: fc.constantFrom(...kinds),
      seed: fc.infiniteStream(fc.nat()),
      junk: fc.infiniteStream(fc.jsonValue()),
    })
    .map(({ kind, seed, junk }) => ({
      kind,
      object: damage(good(kind), {
        seed,
        junk: junk as IterableIterator<JsonValue>,
        isRoot: true,
      }) as JsonObject,
    }));

  it("pruning twice is pruning once", () => {
    fc.assert(
      fc.property(damaged, ({ kind, object }) => {
        const schema = schemaOf(kind);
        const once = pruned(object, schema).object;
        expect(pruned(once, schema)).toEqual({ object: once, unknown: [] });
      }),
    );
  });

  it("what is admitted is admitted again, and stays as it is", () => {
    fc.assert(
      fc.property(damaged, ({ kind, object }) => {
        const definition = definitionOf(kind);
        const first = definition.admit(write(object, { fieldValidation: "Ignore" }));
        fc.pre(first.ok);
        if (first.ok) {
          expect(definition.admit(write(first.object))).toEqual({
            ok: true,
            object: first.object,
            warnings: [],
          });
        }
      }),
    );
  });

  it("a spec written over itself is never refused by its schema, however wrong it is", () => {
    fc.assert(
      fc.property(damaged, ({ kind, object }) => {
        const old = pruned(object, schemaOf(kind)).object;
        const admission = definitionOf(kind).admit(write(structuredClone(old), { old }));
        const causes = admission.ok ? [] : admission.causes;
        expect(
          causes.filter(({ field, message }) => field.startsWith("spec.") && message.includes(" in body ")),
        ).toEqual([]);
      }),
    );
  });
});

interface Damage {
  readonly seed: IterableIterator<number>;
  readonly junk: IterableIterator<JsonValue>;
  readonly isRoot?: boolean;
}

/** One value in sixteen becomes something else, one in sixteen gets a field more. */
function damage(value: JsonValue, { seed, junk, isRoot = false }: Damage): JsonValue {
  const dice = Number(seed.next().value) % 16;
  if (dice === 0 && !isRoot) return nextOf(junk);
  if (Array.isArray(value)) return value.map((item: JsonValue) => damage(item, { seed, junk }));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => {
    const isMeta = isRoot && ["apiVersion", "kind", "metadata"].includes(name);
    return [name, isMeta ? field : damage(field as JsonValue, { seed, junk })] as const;
  });
  return Object.fromEntries(dice === 1 ? [...fields, ["foreign", nextOf(junk)] as const] : fields);
}

function nextOf(junk: IterableIterator<JsonValue>): JsonValue {
  return junk.next().value as JsonValue;
}

function good(kind: string): JsonObject {
  return GOOD_OBJECTS[kind] ?? {};
}
