import type { JsonObject, JsonValue } from "../json.ts";
import {
  finalizersOf,
  isList,
  isObject,
  isTerminating,
  listAt,
  metadataOf,
  objectAt,
  stringAt,
  textOf,
} from "../json-access.ts";
import { forbiddenValue, invalidValue, requiredValue } from "./causes.ts";
import type { Cause, ResourceDefinition } from "./definition.ts";
import { labelValueProblems, nameProblems, qualifiedNameProblems } from "./names.ts";
import { badRequest } from "./statuses.ts";

const MOST_ANNOTATION_BYTES = 256 * 1024;
const STRINGS_BY_NAME = ["labels", "annotations"];

/** Metadata has the same type in every kind: what cannot be read into it is a BadRequest. */
export function checkMetadataTypes(definition: ResourceDefinition, object: JsonObject): void {
  const { metadata = {} } = object;
  if (!isObject(metadata)) throw unreadable(definition, metadata, "metadata of type v1.ObjectMeta");
  for (const name of ["name", "generateName", "namespace", "uid", "resourceVersion"]) {
    const value = metadata[name] ?? "";
    if (typeof value !== "string")
      throw unreadable(definition, value, `ObjectMeta.metadata.${name} of type string`);
  }
  for (const name of STRINGS_BY_NAME) checkStringsByName(definition, metadata, name);
  checkItems(definition, metadata["finalizers"], {
    isItem: (item) => typeof item === "string",
    field: "ObjectMeta.metadata.finalizers of type string",
  });
  checkItems(definition, metadata["ownerReferences"], {
    isItem: isObject,
    field: "ObjectMeta.metadata.ownerReferences of type v1.OwnerReference",
  });
}

function checkStringsByName(definition: ResourceDefinition, metadata: JsonObject, name: string): void {
  const strings = metadata[name] ?? {};
  const field = `ObjectMeta.metadata.${name} of type`;
  if (!isObject(strings)) throw unreadable(definition, strings, `${field} map[string]string`);
  const wrong = Object.values(strings).find((value) => typeof value !== "string");
  if (wrong !== undefined) throw unreadable(definition, wrong, `${field} string`);
}

function checkItems(
  definition: ResourceDefinition,
  list: JsonValue | undefined,
  { isItem, field }: { readonly isItem: (item: JsonValue) => boolean; readonly field: string },
): void {
  if (list === undefined || list === null) return;
  if (!isList(list)) throw unreadable(definition, list, field);
  const wrong = list.find((item) => !isItem(item));
  if (wrong !== undefined) throw unreadable(definition, wrong, field);
}

function unreadable({ kind, version }: ResourceDefinition, value: JsonValue, field: string): Error {
  return badRequest(
    `${kind} in version "${version}" cannot be handled as a ${kind}: json: cannot unmarshal ${goKind(value)} into Go struct field ${field}`,
  );
}

function goKind(value: JsonValue): string {
  if (isList(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

/** What is wrong with the metadata of any object. */
export function metadataCauses(definition: ResourceDefinition, object: JsonObject): readonly Cause[] {
  const metadata = metadataOf(object);
  return [
    ...nameCauses(definition, metadata),
    ...labelCauses(objectAt(metadata, "labels")),
    ...annotationCauses(objectAt(metadata, "annotations")),
    ...ownerCauses(listAt(metadata, "ownerReferences")),
    ...finalizersOf(object).flatMap((finalizer, index) =>
      qualifiedNameProblems(finalizer).map((why) =>
        invalidValue(`metadata.finalizers[${index}]`, finalizer, why),
      ),
    ),
  ];
}

function nameCauses(definition: ResourceDefinition, metadata: JsonObject): readonly Cause[] {
  const name = stringAt(metadata, "name");
  if (name === "") return [requiredValue("metadata.name", "name or generateName is required")];
  return nameProblems(definition, name).map((why) => invalidValue("metadata.name", name, why));
}

function labelCauses(labels: JsonObject): readonly Cause[] {
  return Object.entries(labels).flatMap(([name, value]) => [
    ...qualifiedNameProblems(name).map((why) => invalidValue("metadata.labels", name, why)),
    ...labelValueProblems(textOf(value)).map((why) => invalidValue("metadata.labels", textOf(value), why)),
  ]);
}

function annotationCauses(annotations: JsonObject): readonly Cause[] {
  const entries = Object.entries(annotations);
  const size = entries.reduce((sum, [name, value]) => sum + bytesOf(name) + bytesOf(textOf(value)), 0);
  const problems = entries.flatMap(([name]) =>
    qualifiedNameProblems(name.toLowerCase()).map((why) => invalidValue("metadata.annotations", name, why)),
  );
  if (size <= MOST_ANNOTATION_BYTES) return problems;
  const message = `Too long: may not be more than ${MOST_ANNOTATION_BYTES} bytes`;
  return [...problems, { reason: "FieldValueTooLong", field: "metadata.annotations", message }];
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

const OWNER_FIELDS: readonly (readonly [string, string])[] = [
  ["apiVersion", "version must not be empty"],
  ["kind", "must not be empty"],
  ["name", "must not be empty"],
  ["uid", "must not be empty"],
];

function ownerCauses(owners: readonly JsonValue[]): readonly Cause[] {
  const references = owners.filter(isObject);
  const missing = references.flatMap((owner, index) =>
    OWNER_FIELDS.filter(([name]) => stringAt(owner, name) === "").map(([name, why]) =>
      invalidValue(`metadata.ownerReferences[${index}].${name}`, "", why),
    ),
  );
  const [first, second] = references.filter(({ controller }) => controller === true);
  if (first === undefined || second === undefined) return missing;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${stringAt(first, "name")} and ${stringAt(second, "name")}`;
  return [...missing, invalidValue("metadata.ownerReferences", "[]v1.OwnerReference", why)];
}

/** Fields of metadata that never change once they are set. */
const FIXED = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];

/** What is wrong with new metadata beside the old. */
export function metadataChangeCauses(old: JsonObject, changed: JsonObject): readonly Cause[] {
  const before = metadataOf(old);
  const after = metadataOf(changed);
  const moved = FIXED.filter((name) => after[name] !== undefined && after[name] !== before[name]);
  return [
    ...moved.map((name) => invalidValue(`metadata.${name}`, textOf(after[name]), "field is immutable")),
    ...newFinalizerCauses(old, changed),
  ];
}

function newFinalizerCauses(old: JsonObject, changed: JsonObject): readonly Cause[] {
  if (!isTerminating(old)) return [];
  const known = finalizersOf(old);
  const fresh = finalizersOf(changed).filter((finalizer) => !known.includes(finalizer));
  if (fresh.length === 0) return [];
  const shown = fresh.toSorted().map((finalizer) => JSON.stringify(finalizer));
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown.join(", ")}}`;
  return [forbiddenValue("metadata.finalizers", why)];
}
