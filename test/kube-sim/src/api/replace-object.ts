import {
  finalizersOf,
  isList,
  isObject,
  isSame,
  isTerminating,
  type JsonObject,
  type JsonValue,
  listAt,
  metadataOf,
  objectAt,
  textAt,
  uidOf,
  withMetadata,
  without,
} from "../json.ts";
import { trackUpdate } from "../patch/apply/apply.ts";
import { managedFields } from "../patch/apply/managers.ts";
import type { ResourceDefinition, Target, WriteOptions, Written } from "./cluster-api.ts";
import { admitted, asKind, checkName, inNamespace, present } from "./identity.ts";
import { checkMetadataTypes, metadataCauses, metadataChangeCauses } from "./metadata-rules.ts";
import { type ApiContext, isBuiltIn, placeOf, resourceOf, timestamp } from "./registry.ts";
import { conflict, invalid } from "./statuses.ts";

export interface Replacement {
  readonly old: JsonObject;
  readonly object: JsonObject;
  readonly options: WriteOptions;
  /** True: the object was made from the stored one, so that what it leaves out is meant so. */
  readonly isPatch: boolean;
  /** Who owns which field, if the object comes from an apply. Absent: it follows from what changes. */
  readonly managedFields?: readonly JsonValue[];
  /** True: status and everything else are written together. */
  readonly keepsStatus?: boolean;
}

export function replaceObject(context: ApiContext, target: Target, replacement: Replacement): Written {
  const { definition } = target;
  const { old, options } = replacement;
  const body = asKind(definition, replacement.object);
  checkMetadataTypes(definition, body);
  const placed = inNamespace(target, body);
  checkName(target, placed);
  if (!replacement.isPatch) checkUid(target, old, placed);
  checkVersion(target, replacement);
  const merged = merge(target, replacement, placed);
  const write = {
    object: merged,
    old,
    isStatus: target.subresource === "status",
    fieldValidation: options.fieldValidation,
  };
  const causes = [...metadataCauses(definition, merged), ...metadataChangeCauses(old, merged)];
  const { object: ready, warnings } = admitted(definition, write, causes);
  const next = managed(context, target, { ...replacement, next: generated(definition, old, ready) });
  const object = store(context, target, { old, next, options });
  return { object: present(definition, object), isNew: false, warnings };
}

function checkUid({ definition, name }: Target, old: JsonObject, object: JsonObject): void {
  const uid = uidOf(object);
  if (uid === "" || uid === uidOf(old)) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${uidOf(old)}`;
  throw conflict(definition, name, why);
}

function checkVersion({ definition, name }: Target, { old, object, isPatch }: Replacement): void {
  const version = textAt(metadataOf(object), "resourceVersion");
  if (version !== "" && version !== "0") {
    if (version !== textAt(metadataOf(old), "resourceVersion")) throw conflict(definition, name);
    return;
  }
  if (isPatch || (definition.allowsBlindUpdate ?? isBuiltIn(definition))) return;
  throw invalid({ group: definition.group, kind: definition.plural }, name, [
    {
      reason: "FieldValueInvalid",
      field: "metadata.resourceVersion",
      message: "Invalid value: 0x0: must be specified for an update",
    },
  ]);
}

/** A write through one path leaves alone what belongs to the other. */
function merge(
  { definition, subresource }: Target,
  { old, keepsStatus }: Replacement,
  object: JsonObject,
): JsonObject {
  if (subresource === "status") {
    const metadata = isBuiltIn(definition) ? reported(definition, old, object) : old["metadata"];
    return without({ ...old, status: object["status"], metadata });
  }
  const status = definition.hasStatus && keepsStatus !== true ? old["status"] : object["status"];
  return without({ ...object, status, metadata: completed(old, object) });
}

/** Built-in kinds take labels and annotations on the status path, too; a pod keeps its owners. */
function reported(definition: ResourceDefinition, old: JsonObject, object: JsonObject): JsonObject {
  const metadata = completed(old, object);
  if (resourceOf(definition) !== "pods") return metadata;
  return without({ ...metadata, ownerReferences: metadataOf(old)["ownerReferences"] });
}

/** Fields the server owns are those of the stored object; only a wrong one that never changes is kept, to be refused. */
function completed(old: JsonObject, object: JsonObject): JsonObject {
  const before = metadataOf(old);
  const after = metadataOf(object);
  return without({
    ...after,
    uid: textAt(after, "uid") || before["uid"],
    creationTimestamp: after["creationTimestamp"] ?? before["creationTimestamp"],
    deletionTimestamp: after["deletionTimestamp"] ?? before["deletionTimestamp"],
    deletionGracePeriodSeconds: after["deletionGracePeriodSeconds"] ?? before["deletionGracePeriodSeconds"],
    generation: before["generation"],
    resourceVersion: before["resourceVersion"],
    selfLink: undefined,
    managedFields: before["managedFields"],
  });
}

function generated(definition: ResourceDefinition, old: JsonObject, next: JsonObject): JsonObject {
  if (!definition.hasGeneration || isSameContent(definition, old, next)) return next;
  const generation = metadataOf(old)["generation"];
  const grown = (typeof generation === "number" ? generation : 0) + 1;
  return withMetadata(next, { generation: grown });
}

function isSameContent({ hasStatus }: ResourceDefinition, old: JsonObject, next: JsonObject): boolean {
  const apart = hasStatus ? ["metadata", "status", "apiVersion"] : ["metadata", "apiVersion"];
  return isSame(without(old, ...apart), without(next, ...apart));
}

function managed(
  { wallMs }: ApiContext,
  { definition, subresource }: Target,
  { old, object, options, next, managedFields: applied }: Replacement & { readonly next: JsonObject },
): JsonObject {
  const sent = metadataOf(object)["managedFields"];
  // A client that sends an empty list gives up all ownership.
  const isGivenUp = isList(sent) && sent.every((entry) => isObject(entry) && Object.keys(entry).length === 0);
  const writing = { definition, isStatus: subresource === "status", fieldManager: options.fieldManager };
  const tracked = () => managedFields(trackUpdate(old, next, writing), timestamp(wallMs()));
  const entries = applied ?? (isGivenUp ? [] : tracked());
  return withMetadata(next, { managedFields: entries.length === 0 ? undefined : entries });
}

interface Move {
  readonly old: JsonObject;
  readonly next: JsonObject;
  readonly options: WriteOptions;
}

function store({ store }: ApiContext, target: Target, { old, next, options }: Move): JsonObject {
  if (isSame(old, next)) return old;
  if (options.dryRun) return next;
  if (!isFinished(target.definition, next)) return store.put(...placeOf(target), next);
  store.delete(...placeOf(target));
  return next;
}

/** It was deleted before, and nothing holds it any more. */
export function isFinished(definition: ResourceDefinition, object: JsonObject): boolean {
  if (!isTerminating(object) || finalizersOf(object).length > 0) return false;
  const { deletionGracePeriodSeconds: grace = 0 } = metadataOf(object);
  const holdsContent =
    resourceOf(definition) === "namespaces" && listAt(objectAt(object, "spec"), "finalizers").length > 0;
  return grace === 0 && !holdsContent;
}
