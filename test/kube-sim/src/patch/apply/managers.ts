import {
  isObject,
  isSame,
  type JsonObject,
  type JsonValue,
  listAt,
  metadataOf,
  objectAt,
  textAt,
} from "../../json.ts";
import { type FieldSet, fromFieldsV1, toFieldsV1 } from "./fields.ts";

/** Who owns which fields: one entry of metadata.managedFields. */
export interface Manager {
  readonly name: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  readonly fields: FieldSet;
  /** The entry it was read from, kept as it is as long as the fields stay the same. */
  readonly entry?: JsonObject;
}

export function managersOf(object: JsonObject): readonly Manager[] {
  return listAt(metadataOf(object), "managedFields")
    .filter(isObject)
    .map((entry) => ({
      name: textAt(entry, "manager"),
      operation: entry["operation"] === "Apply" ? "Apply" : "Update",
      apiVersion: textAt(entry, "apiVersion"),
      subresource: textAt(entry, "subresource"),
      fields: fromFieldsV1(objectAt(entry, "fieldsV1")),
      entry,
    }));
}

/** For metadata.managedFields; who owns nothing is left out. */
export function managedFields(managers: readonly Manager[], time: string): readonly JsonValue[] {
  return managers.filter(({ fields }) => fields.size > 0).map((manager) => entryOf(manager, time));
}

function entryOf({ entry, fields, name, ...manager }: Manager, time: string): JsonObject {
  const { operation, apiVersion, subresource } = manager;
  const fieldsV1 = toFieldsV1(fields);
  if (entry !== undefined && isSame(entry["fieldsV1"], fieldsV1)) return entry;
  const by = { manager: name, operation, apiVersion, time, fieldsType: "FieldsV1", fieldsV1 };
  return subresource === "" ? by : { ...by, subresource };
}

export function isSameManager(a: Manager, b: Omit<Manager, "fields">): boolean {
  const isSameVersion = a.operation === "Apply" || a.apiVersion === b.apiVersion;
  return a.name === b.name && a.operation === b.operation && a.subresource === b.subresource && isSameVersion;
}

/** With this one's fields in its old place, or at the end: an order that moves would look like a change. */
export function withManager(managers: readonly Manager[], changed: Manager): readonly Manager[] {
  const at = managers.findIndex((manager) => isSameManager(manager, changed));
  return at < 0 ? [...managers, changed] : managers.with(at, { ...managers[at], ...changed });
}

/** `"kubectl" using v1`, as a conflict names it. */
export function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const who = JSON.stringify(name) + (subresource === "" ? "" : ` with subresource "${subresource}"`);
  return operation === "Update" ? `${who} using ${apiVersion}` : who;
}
