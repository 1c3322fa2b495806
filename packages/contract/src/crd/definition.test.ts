import { describe, expect, test } from "vitest";
import { type CustomResourceDefinition, customResourceDefinition, KINDS } from "./definition.ts";
import { CATEGORY, type Kind } from "./kind.ts";
import type { StructuralSchema } from "./structural.ts";

const cases = KINDS.map((kind) => [kind.kind, kind, versionOf(kind)] as const);

test("there are the seven kinds of the design, under their names", () => {
  expect(KINDS.map(({ group, kind, plural }) => `${group} ${kind} ${plural}`)).toEqual([
    "rear.fluidos.eu Advertisement advertisements",
    "rear.fluidos.eu ResourceRequest resourcerequests",
    "rear.fluidos.eu ReservationInstruction reservationinstructions",
    "rear.fluidos.eu ProviderInstruction providerinstructions",
    "broker.fluidos.eu ClusterAdvertisement clusteradvertisements",
    "broker.fluidos.eu Reservation reservations",
    "broker.fluidos.eu BrokerPolicy brokerpolicies",
  ]);
});

test("no two kinds share a short name", () => {
  const names = KINDS.flatMap(({ shortNames }) => shortNames);
  expect(new Set(names).size).toBe(names.length);
});

test("both advertisement kinds have one and the same resources schema, but the central one lets the broker say what is available", () => {
  const [local, central] = ["Advertisement", "ClusterAdvertisement"].map((name) => {
    const [, , version] = cases.find(([kind]) => kind === name) ?? [];
    return fieldAt(version?.schema.openAPIV3Schema, "spec.resources");
  });
  expect(local).toEqual({ ...central, required: [...(central?.required ?? []), "available"] });
  expect(central?.required).toEqual(["capacity", "allocatable", "allocated"]);
});

describe.each(cases)("%s", (_, kind, version) => {
  const root = version.schema.openAPIV3Schema;

  test("has a status subresource, the category and a short name", () => {
    const { names } = customResourceDefinition(kind).spec;
    expect(version.subresources.status).toEqual({});
    expect(names).toMatchObject({ categories: [CATEGORY], shortNames: kind.shortNames });
    expect(kind.shortNames.length).toBeGreaterThan(0);
  });

  test("shows at most six columns, and more with -o wide", () => {
    const columns = version.additionalPrinterColumns;
    expect(columns.filter(({ priority }) => priority === 0).length).toBeLessThanOrEqual(6);
    expect(columns.some(({ priority }) => priority > 0)).toBe(true);
  });

  test.each(version.additionalPrinterColumns.map(({ jsonPath }) => jsonPath))(
    "column %s exists",
    (jsonPath) => {
      if (jsonPath === ".metadata.creationTimestamp") return;
      expect(fieldAt(root, jsonPath.slice(1))).toBeDefined();
    },
  );

  test("describes every field", () => {
    const undescribed = everyField(root).filter(
      ([path, { description }]) => path !== "metadata" && !description,
    );
    expect(undescribed.map(([path]) => path)).toEqual([]);
  });

  test("bounds every list, map and text", () => {
    const unbounded = everyField(root).filter(
      ([path, field]) =>
        !["apiVersion", "kind"].includes(path) &&
        ((field.type === "array" && field.maxItems === undefined) ||
          (field.additionalProperties !== undefined && field.maxProperties === undefined) ||
          (field.type === "string" && !field.enum && !field.format && field.maxLength === undefined)),
    );
    expect(unbounded.map(([path]) => path)).toEqual([]);
  });

  test("has conditions that every Kubernetes tool understands", () => {
    const conditions = fieldAt(root, "status.conditions");
    expect(conditions).toMatchObject({
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["type"],
      items: { required: ["type", "status", "lastTransitionTime", "reason", "message"] },
    });
    expect(Object.keys(conditions?.items?.properties ?? {})).toContain("observedGeneration");
  });
});

function versionOf(kind: Kind<unknown, unknown>): CustomResourceDefinition["spec"]["versions"][0] {
  return customResourceDefinition(kind).spec.versions[0];
}

function everyField(schema: StructuralSchema, path = ""): (readonly [string, StructuralSchema])[] {
  const children = [
    ...Object.entries(schema.properties ?? {}).map(([name, child]) => [joined(path, name), child] as const),
    ...(schema.items === undefined ? [] : [[`${path}[]`, schema.items] as const]),
    ...(schema.additionalProperties === undefined
      ? []
      : [[`${path}.<name>`, schema.additionalProperties] as const]),
  ];
  return children.flatMap(([name, child]) => [[name, child] as const, ...everyField(child, name)]);
}

function fieldAt(schema: StructuralSchema | undefined, path: string): StructuralSchema | undefined {
  return path
    .split(".")
    .reduce((field, name) => field?.properties?.[name] ?? field?.additionalProperties, schema);
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
