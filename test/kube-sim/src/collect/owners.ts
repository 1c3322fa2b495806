import type { JsonObject, JsonValue } from "../json.ts";
import { isObject, listAt, metadataOf, stringAt } from "../json-access.ts";

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blocks: boolean;
}

export function ownersOf(object: JsonObject): readonly Owner[] {
  return listAt(metadataOf(object), "ownerReferences").filter(isObject).map(ownerOf);
}

function ownerOf(reference: JsonObject): Owner {
  return {
    apiVersion: stringAt(reference, "apiVersion"),
    kind: stringAt(reference, "kind"),
    name: stringAt(reference, "name"),
    uid: stringAt(reference, "uid"),
    blocks: reference["blockOwnerDeletion"] === true,
  };
}

/** Without the references to these owners. */
export function disowned(object: JsonObject, uids: ReadonlySet<string>): JsonObject {
  return withOwners(object, (reference) => (uids.has(stringAt(reference, "uid")) ? undefined : reference));
}

/** With references that hold no owner back. */
export function unblocking(object: JsonObject): JsonObject {
  return withOwners(object, (reference) =>
    reference["blockOwnerDeletion"] === true ? { ...reference, blockOwnerDeletion: false } : reference,
  );
}

function withOwners(
  object: JsonObject,
  change: (reference: JsonObject) => JsonObject | undefined,
): JsonObject {
  const { ownerReferences: _, ...metadata } = metadataOf(object);
  const kept = listAt(metadataOf(object), "ownerReferences").flatMap((reference): readonly JsonValue[] => {
    const next = isObject(reference) ? change(reference) : reference;
    return next === undefined ? [] : [next];
  });
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, ownerReferences: kept } };
}
