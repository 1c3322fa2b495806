import type { JsonObject } from "../json.ts";
import { nameOf, namespaceOf } from "../json-access.ts";
import type { CollectionTarget, DeleteOptions, ListQuery } from "./cluster-api.ts";
import type { ApiContext } from "./context.ts";
import { deleteObject } from "./delete-object.ts";
import { listObjects } from "./list-objects.ts";
import { apiVersionOf, keyOf, resourceOf } from "./registry.ts";

interface CollectionDeletion {
  readonly query: ListQuery;
  readonly options: DeleteOptions;
}

/** The answer lists what was asked to go, as it was. */
export function deleteCollection(
  context: ApiContext,
  target: CollectionTarget,
  { query, options }: CollectionDeletion,
): JsonObject {
  const { definition } = target;
  const { items, resourceVersion } = listObjects(context, target, query);
  for (const object of items) {
    const namespace = namespaceOf(object);
    const name = nameOf(object);
    // Whoever watches may have taken it away already.
    const isThere = context.store.get(resourceOf(definition), keyOf(namespace, name)) !== undefined;
    const place = namespace === "" ? { definition } : { definition, namespace };
    if (isThere) deleteObject(context, { ...place, name }, options);
  }
  return {
    kind: definition.listKind,
    apiVersion: apiVersionOf(definition),
    metadata: { resourceVersion },
    items,
  };
}
