import type { Clock } from "@resource-broker/base";
import type { ApiContext } from "../api/context.ts";
import { CONTENT_FINALIZER } from "../api/create-object.ts";
import { deleteCollection } from "../api/delete-collection.ts";
import { resourceOf } from "../api/registry.ts";
import { isFinished } from "../api/replace-object.ts";
import type { JsonObject } from "../json.ts";
import { isTerminating, objectAt, stringsAt } from "../json-access.ts";
import type { Change } from "../store/change.ts";
import { tickQueue } from "./tick.ts";

const NAMESPACES = "namespaces";

/** Takes away what is in a namespace that was deleted, then the namespace. */
export function emptyNamespaces(context: ApiContext, clock: Clock): () => void {
  const { store } = context;
  const going = new Set<string>();
  const queue = tickQueue<string>(clock, (namespace) => {
    const object = store.get(NAMESPACES, namespace);
    if (object !== undefined && isTerminating(object)) empty(context, namespace, object);
  });
  const stop = store.watch({
    after: 0,
    each: (change) => {
      if (change.resource === NAMESPACES) noteNamespace(change, going);
      const namespace = namespaceIn(change);
      if (going.has(namespace)) queue.add(namespace);
    },
  });
  return () => {
    stop();
    queue.stop();
  };
}

function noteNamespace({ key, after }: Change, going: Set<string>): void {
  if (after !== undefined && isTerminating(after)) going.add(key);
  else going.delete(key);
}

/** A namespace is looked at when it changes, and whenever something in it is gone. */
function namespaceIn({ resource, key, after }: Change): string {
  if (resource === NAMESPACES) return key;
  return after === undefined && key.includes("/") ? key.slice(0, key.indexOf("/")) : "";
}

function empty(context: ApiContext, namespace: string, object: JsonObject): void {
  const { store, registry } = context;
  const span = { from: `${namespace}/`, before: `${namespace}0` };
  const kinds = new Map(
    registry
      .definitions()
      .filter(({ isNamespaced }) => isNamespaced)
      .map((definition) => [resourceOf(definition), definition]),
  );
  let isEmpty = true;
  for (const [resource, definition] of kinds) {
    if (store.count(resource, span) === 0) continue;
    const options = { dryRun: false, propagation: "Background" } as const;
    deleteCollection(context, { definition, namespace }, { query: {}, options });
    isEmpty &&= store.count(resource, span) === 0;
  }
  if (isEmpty) release(context, namespace, object);
}

function release({ store, registry }: ApiContext, namespace: string, object: JsonObject): void {
  const spec = objectAt(object, "spec");
  const finalizers = stringsAt(spec, "finalizers").filter((finalizer) => finalizer !== CONTENT_FINALIZER);
  const released = { ...object, spec: { ...spec, finalizers } };
  const definition = registry.byResource(NAMESPACES);
  if (definition !== undefined && isFinished(definition, released)) store.delete(NAMESPACES, namespace);
  else if (finalizers.length < stringsAt(spec, "finalizers").length)
    store.put(NAMESPACES, namespace, released);
}
