import { forbidden, invalid, tooLong } from "../api/causes.ts";
import type { Cause } from "../api/cluster-api.ts";
import { isSame, type JsonObject, objectAt, scalarText, textAt } from "../json.ts";
import { AGE, builtIn, column } from "./built-in.ts";

const MOST_BYTES = 1024 * 1024;
const KEY = /^[-._a-zA-Z0-9]{1,253}$/u;
const KEY_WORDS = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";

export const CONFIG_MAPS = builtIn({
  kind: "ConfigMap",
  plural: "configmaps",
  shortNames: ["cm"],
  judge: (object, old) => judgeData(object, old, "[]"),
  columns: [column("Data", (object) => entriesOf(object).length), AGE],
});

export const SECRETS = builtIn({
  kind: "Secret",
  plural: "secrets",
  complete: completeSecret,
  judge: (object, old) => [
    ...judgeData(object, old, "data"),
    ...(old === undefined || old["type"] === object["type"]
      ? []
      : [invalid("type", object["type"], "field is immutable")]),
  ],
  columns: [
    column("Type", (object) => textAt(object, "type")),
    column("Data", (object) => entriesOf(object).length),
    AGE,
  ],
  selectable: ["type"],
});

function completeSecret({ stringData, ...object }: JsonObject): JsonObject {
  const texts = Object.entries(objectAt({ stringData }, "stringData"));
  const encoded = texts.map(([key, value]): [string, string] => [
    key,
    Buffer.from(scalarText(value)).toString("base64"),
  ]);
  const data = { ...objectAt(object, "data"), ...Object.fromEntries(encoded) };
  const type = textAt(object, "type") || "Opaque";
  return { ...object, type, ...(Object.keys(data).length === 0 ? {} : { data }) };
}

function entriesOf(object: JsonObject): readonly (readonly [string, unknown])[] {
  return ["data", "binaryData"].flatMap((map) => Object.entries(objectAt(object, map)));
}

function keyCauses(object: JsonObject): readonly Cause[] {
  return ["data", "binaryData"].flatMap((map) => {
    const wrong = Object.keys(objectAt(object, map)).filter((key) => !KEY.test(key));
    return wrong.map((key) => invalid(`${map}[${key}]`, key, KEY_WORDS));
  });
}

function judgeData(object: JsonObject, old: JsonObject | undefined, field: string): readonly Cause[] {
  const bytes = entriesOf(object).reduce((sum, [, value]) => sum + Buffer.byteLength(String(value)), 0);
  const isSealed = old?.["immutable"] === true;
  const changed = ["data", "binaryData", "immutable"].filter(
    (name) => isSealed && !isSame(object[name], old[name]),
  );
  return [
    ...keyCauses(object),
    ...(bytes > MOST_BYTES ? [tooLong(field, MOST_BYTES)] : []),
    ...changed.map((name) => forbidden(name, "field is immutable when `immutable` is set")),
  ];
}
