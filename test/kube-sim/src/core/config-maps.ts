import type { Cause } from "../api/definition.ts";
import { forbidden, invalid, tooLong } from "../crd/causes.ts";
import { sameJson } from "../crd/same-json.ts";
import type { JsonObject } from "../json.ts";
import { builtIn } from "./built-in.ts";
import { AGE, column } from "./columns.ts";
import { objectAt, scalarText, textAt } from "./look.ts";
import { keyProblem } from "./names.ts";
import { CONFIG_MAP_SCHEMA, SECRET_SCHEMA } from "./schema/small-kinds.ts";
import { unchanged } from "./unchanged.ts";

const MOST_BYTES = 1024 * 1024;

const count = (object: JsonObject, ...maps: readonly string[]): number =>
  maps.reduce((sum, map) => sum + Object.keys(objectAt(object, map)).length, 0);

export const CONFIG_MAPS = builtIn({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  schema: CONFIG_MAP_SCHEMA,
  judge: (object, old) => [
    ...badKeys(object, ["data", "binaryData"]),
    ...tooLarge("[]", textBytes(object, "data") + decodedBytes(object, "binaryData")),
    ...changesOfImmutable(object, old, ["data", "binaryData", "immutable"]),
  ],
  columns: [column("Data", (object) => count(object, "data", "binaryData"), "How many keys it has."), AGE],
});

export const SECRETS = builtIn({
  kind: "Secret",
  plural: "secrets",
  schema: SECRET_SCHEMA,
  complete: completeSecret,
  judge: (object, old) => [
    ...badKeys(object, ["data"]),
    ...tooLarge("data", decodedBytes(object, "data")),
    ...unchanged(object, old, ["type"]),
    ...changesOfImmutable(object, old, ["data", "immutable"]),
  ],
  columns: [
    column("Type", (object) => textAt(object, "type"), "What it is for."),
    column("Data", (object) => count(object, "data"), "How many keys it has."),
    AGE,
  ],
  selectable: ["type"],
});

function completeSecret({ stringData, ...object }: JsonObject): JsonObject {
  const texts = Object.entries(objectAt({ stringData }, "stringData"));
  const encoded = texts.map(([key, value]): [string, string] => [
    key,
    Buffer.from(scalarText(value), "utf8").toString("base64"),
  ]);
  const data = { ...objectAt(object, "data"), ...Object.fromEntries(encoded) };
  const type = textAt(object, "type") || "Opaque";
  return { ...object, type, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

function textBytes(object: JsonObject, map: string): number {
  return sumOf(object, map, (text) => Buffer.byteLength(text, "utf8"));
}

function decodedBytes(object: JsonObject, map: string): number {
  return sumOf(object, map, (text) => Buffer.byteLength(text, "base64"));
}

function sumOf(object: JsonObject, map: string, size: (text: string) => number): number {
  const values = Object.values(objectAt(object, map));
  return values.reduce<number>((sum, value) => sum + size(scalarText(value)), 0);
}

function tooLarge(field: string, bytes: number): readonly Cause[] {
  return bytes > MOST_BYTES ? [tooLong(field, MOST_BYTES)] : [];
}

function badKeys(object: JsonObject, maps: readonly string[]): readonly Cause[] {
  return maps.flatMap((map) =>
    Object.keys(objectAt(object, map)).flatMap((key) => {
      const problem = keyProblem(key);
      return problem === undefined ? [] : [invalid(`${map}[${key}]`, key, problem)];
    }),
  );
}

function changesOfImmutable(
  object: JsonObject,
  old: JsonObject | undefined,
  fields: readonly string[],
): readonly Cause[] {
  if (old?.["immutable"] !== true) return [];
  return fields.flatMap((field) =>
    sameJson(object[field], old[field])
      ? []
      : [forbidden(field, "field is immutable when `immutable` is set")],
  );
}
