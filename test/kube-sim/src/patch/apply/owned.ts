import type { JsonObject } from "../../json.ts";
import { metadataOf, without } from "../../json-access.ts";

/** Fields that the server keeps and nobody owns. */
const SERVER_FIELDS = [
  "name",
  "namespace",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
];

export interface Scope {
  readonly hasStatus: boolean;
  readonly isStatus: boolean;
}

/** The part of an object whose fields a write through this path may own. */
export function ownable(object: JsonObject, { hasStatus, isStatus }: Scope): JsonObject {
  if (isStatus) return without({ status: object["status"] });
  const metadata = without(metadataOf(object), ...SERVER_FIELDS);
  return without({
    ...without(object, "apiVersion", "kind", ...(hasStatus ? ["status"] : [])),
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  });
}
