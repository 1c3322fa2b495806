import type { JsonObject, JsonValue } from "../../json.ts";
import { isObject, listAt, metadataOf, objectAt, stringAt } from "../../json-access.ts";
import { type FieldSet, fromFieldsV1, isEmpty, isEqual, toFieldsV1 } from "./field-set.ts";

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
      name: stringAt(entry, "manager"),
      operation: entry["operation"] === "Apply" ? "Apply" : "Update",
      apiVersion: stringAt(entry, "apiVersion"),
      subresource: stringAt(entry, "subresource"),
      fields: fromFieldsV1(objectAt(entry, "fieldsV1")),
      entry,
    }));
}

/** For metadata.managedFields; who owns nothing is left out. */
export function managedFields(managers: readonly Manager[], time: string): readonly JsonValue[] {
  return managers.filter(({ fields }) => !isEmpty(fields)).map((manager) => entryOf(manager, time));
}

function entryOf(manager: Manager, time: string): JsonObject {
  const { entry, fields, name, operation, apiVersion, subresource } = manager;
  if (entry !== undefined && isEqual(fromFieldsV1(objectAt(entry, "fieldsV1")), fields)) return entry;
  return {
    manager: name,
    operation,
    apiVersion,
    time,
    fieldsType: "FieldsV1",
    fieldsV1: toFieldsV1(fields),
    ...(subresource === "" ? {} : { subresource }),
  };
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
  const who =
    subresource === "" ? JSON.stringify(name) : `${JSON.stringify(name)} with subresource "${subresource}"`;
  return operation === "Update" ? `${who} using ${apiVersion}` : who;
}
