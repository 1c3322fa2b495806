import type { Clock } from "@resource-broker/base";
import type { ResourceDefinition } from "../api/cluster-api.ts";
import { CLEANUP_FINALIZER, CONTENT_FINALIZER, CUSTOM_RESOURCES } from "../api/create-object.ts";
import { deleteAll } from "../api/delete-object.ts";
import { spanOf } from "../api/list-objects.ts";
import { type ApiContext, resourceOf } from "../api/registry.ts";
import { isFinished } from "../api/replace-object.ts";
import {
  finalizersOf,
  isSame,
  isTerminating,
  type JsonObject,
  objectAt,
  stringsAt,
  withFinalizers,
} from "../json.ts";
import type { Change } from "../store/changes.ts";
import { garbageCollector, tickQueue } from "./garbage-collector.ts";

/** What a real cluster's controllers clean up: dependents, namespaces and kinds that go. */
export function startCollectors(context: ApiContext, clock: Clock): () => void {
  const stops = [
    garbageCollector(context, clock),
    emptyHolders(context, clock, NAMESPACES),
    emptyHolders(context, clock, DEFINITIONS),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Something that holds others, and is kept by a finalizer until they are gone. */
interface Holder {
  /** Where it lies in the store. */
  readonly resource: string;
  /** The key of the holder of an object. */
  readonly holderOf: (change: Change) => string;
  readonly contents: (key: string, context: ApiContext) => readonly Content[];
  /** Without the finalizer that keeps it until it is empty. */
  readonly released: (object: JsonObject) => JsonObject;
}

interface Content {
  readonly definition: ResourceDefinition;
  readonly namespace?: string;
}

const NAMESPACES: Holder = {
  resource: "namespaces",
  holderOf: ({ key }) => key.slice(0, Math.max(0, key.indexOf("/"))),
  contents: (namespace, { registry }) =>
    registry
      .definitions()
      .filter(({ isNamespaced }) => isNamespaced)
      .map((definition) => ({ definition, namespace })),
  released: (object) => {
    const spec = objectAt(object, "spec");
    const finalizers = stringsAt(spec, "finalizers").filter((finalizer) => finalizer !== CONTENT_FINALIZER);
    return { ...object, spec: { ...spec, finalizers } };
  },
};

const DEFINITIONS: Holder = {
  resource: resourceOf(CUSTOM_RESOURCES),
  // A CustomResourceDefinition has the name under which its objects lie in the store: `<plural>.<group>`.
  holderOf: ({ resource }) => resource,
  contents: (resource, { registry }) => {
    const definition = registry.byResource(resource);
    return definition === undefined ? [] : [{ definition }];
  },
  released: (object) =>
    withFinalizers(
      object,
      finalizersOf(object).filter((finalizer) => finalizer !== CLEANUP_FINALIZER),
    ),
};

/** Takes away what is in a holder that was deleted, then lets go of the holder. */
function emptyHolders(context: ApiContext, clock: Clock, holder: Holder): () => void {
  const { store } = context;
  const going = new Set<string>();
  const queue = tickQueue<string>(clock, (key) => {
    const object = store.get(holder.resource, key);
    if (object !== undefined && isTerminating(object) && isEmptied(context, holder.contents(key, context)))
      release(context, [holder.resource, key], { object, released: holder.released(object) });
  });
  const stop = store.watch({
    after: 0,
    each: (change) => {
      const { resource, key, after } = change;
      const isHolder = resource === holder.resource;
      if (isHolder && after !== undefined && isTerminating(after)) going.add(key);
      else if (isHolder) going.delete(key);
      // A holder is looked at when it changes, and whenever something in it is gone.
      const concerned = isHolder ? key : holder.holderOf(change);
      if ((isHolder || after === undefined) && going.has(concerned)) queue.add(concerned);
    },
  });
  return () => {
    stop();
    queue.stop();
  };
}

function isEmptied(context: ApiContext, contents: readonly Content[]): boolean {
  const held = (content: Content) => context.store.count(resourceOf(content.definition), spanOf(content)) > 0;
  for (const content of contents.filter(held)) deleteAll(context, content);
  return !contents.some(held);
}

function release(
  { store, registry }: ApiContext,
  [resource, key]: readonly [string, string],
  { object, released }: { readonly object: JsonObject; readonly released: JsonObject },
): void {
  const definition = registry.byResource(resource);
  if (definition !== undefined && isFinished(definition, released)) store.delete(resource, key);
  else if (!isSame(object, released)) store.put(resource, key, released);
}
