import type { MessageFields } from "./fields.ts";

/**
 * Of an object's metadata: what names it, and the labels that are looked at. A large cluster has a million others on its
 * pods alone.
 */
export function metadataFields(labels: readonly string[]): MessageFields {
  return {
    1: { name: "name", kind: "string", isUnique: true },
    3: { name: "namespace", kind: "string" },
    5: { name: "uid", kind: "string", isUnique: true },
    6: { name: "resourceVersion", kind: "string", isUnique: true },
    9: { name: "deletionTimestamp", kind: "time" },
    11: { name: "labels", kind: "string-map", only: labels },
  };
}

/** Of a condition of a pod or a node: what it says, not when and why it was written. */
export const CONDITION_FIELDS: MessageFields = {
  1: { name: "type", kind: "string", isKeptWhenZero: true },
  2: { name: "status", kind: "string", isKeptWhenZero: true },
  5: { name: "reason", kind: "string" },
};
