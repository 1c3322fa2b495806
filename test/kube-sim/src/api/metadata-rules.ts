import { METADATA } from "../core/built-in.ts";
import { pruned } from "../crd/complete.ts";
import { readSchema } from "../crd/schema.ts";
import { schemaCauses } from "../crd/validate.ts";
import {
  finalizersOf,
  isObject,
  isTerminating,
  type JsonObject,
  type JsonValue,
  listAt,
  metadataOf,
  objectAt,
  textAt,
  textOf,
} from "../json.ts";
import { forbidden, invalid, required, tooLong } from "./causes.ts";
import type { Cause, ResourceDefinition } from "./cluster-api.ts";
import { labelValueProblems, nameProblems, qualifiedNameProblems } from "./names.ts";
import { undecodable } from "./statuses.ts";

const MOST_ANNOTATION_BYTES = 256 * 1024;

const METADATA_SCHEMA = readSchema(METADATA);

/** Metadata has the same type in every kind: what cannot be read into it is a BadRequest. */
export function checkMetadataTypes(definition: ResourceDefinition, { metadata = {} }: JsonObject): void {
  // Without nulls, which say nothing.
  const value = isObject(metadata) ? pruned(metadata, METADATA_SCHEMA).object : metadata;
  const causes = schemaCauses(METADATA_SCHEMA, { value, path: "metadata", old: undefined });
  if (causes.length > 0) throw undecodable(definition, causes);
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
      qualifiedNameProblems(finalizer).map((why) => invalid(`metadata.finalizers[${index}]`, finalizer, why)),
    ),
  ];
}

function nameCauses(definition: ResourceDefinition, metadata: JsonObject): readonly Cause[] {
  const name = textAt(metadata, "name");
  if (name === "") return [required("metadata.name", "name or generateName is required")];
  return nameProblems(definition, name).map((why) => invalid("metadata.name", name, why));
}

function labelCauses(labels: JsonObject): readonly Cause[] {
  return Object.entries(labels).flatMap(([name, value]) => [
    ...qualifiedNameProblems(name).map((why) => invalid("metadata.labels", name, why)),
    ...labelValueProblems(textOf(value)).map((why) => invalid("metadata.labels", textOf(value), why)),
  ]);
}

function annotationCauses(annotations: JsonObject): readonly Cause[] {
  const entries = Object.entries(annotations);
  const size = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name + textOf(value)), 0);
  const problems = entries.flatMap(([name]) =>
    qualifiedNameProblems(name.toLowerCase()).map((why) => invalid("metadata.annotations", name, why)),
  );
  if (size <= MOST_ANNOTATION_BYTES) return problems;
  return [...problems, tooLong("metadata.annotations", MOST_ANNOTATION_BYTES)];
}

function ownerCauses(owners: readonly JsonValue[]): readonly Cause[] {
  const references = owners.filter(isObject);
  const missing = references.flatMap((owner, index) =>
    ["apiVersion", "kind", "name", "uid"]
      .filter((name) => textAt(owner, name) === "")
      .map((name) => {
        const why = name === "apiVersion" ? "version must not be empty" : "must not be empty";
        return invalid(`metadata.ownerReferences[${index}].${name}`, "", why);
      }),
  );
  const [first, second] = references.filter(({ controller }) => controller === true);
  if (first === undefined || second === undefined) return missing;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${textAt(first, "name")} and ${textAt(second, "name")}`;
  return [...missing, invalid("metadata.ownerReferences", "[]v1.OwnerReference", why)];
}

/** Fields of metadata that never change once they are set. */
const FIXED = ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];

/** What is wrong with new metadata beside the old. */
export function metadataChangeCauses(old: JsonObject, changed: JsonObject): readonly Cause[] {
  const before = metadataOf(old);
  const after = metadataOf(changed);
  const moved = FIXED.filter((name) => after[name] !== undefined && after[name] !== before[name]);
  return [
    ...moved.map((name) => invalid(`metadata.${name}`, textOf(after[name]), "field is immutable")),
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
  return [forbidden("metadata.finalizers", why)];
}
