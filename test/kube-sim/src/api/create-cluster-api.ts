import type { Clock } from "@resource-broker/base";
import { startCollectors } from "../collect/collectors.ts";
import type { JsonObject } from "../json.ts";
import { nameOf, namespaceOf } from "../json-access.ts";
import type { Change } from "../store/change.ts";
import { createStore } from "../store/store.ts";
import type { ClusterApi, CollectionTarget, Target, WriteOptions, Written } from "./cluster-api.ts";
import type { ApiContext } from "./context.ts";
import { type Birth, createObject } from "./create-object.ts";
import type { ResourceDefinition } from "./definition.ts";
import { deleteCollection } from "./delete-collection.ts";
import { deleteObject } from "./delete-object.ts";
import { checkName, present } from "./identity.ts";
import { listObjects } from "./list-objects.ts";
import { patchObject, tracker } from "./patch-object.ts";
import { createRegistry, keyOf, resourceOf } from "./registry.ts";
import { replaceObject } from "./replace-object.ts";
import { notFound } from "./statuses.ts";
import { watchObjects } from "./watch-objects.ts";

export interface ClusterApiDeps {
  readonly clock: Clock;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Kinds that are there from the beginning. */
  readonly definitions?: readonly ResourceDefinition[];
}

/** Something happened to an object of a kind; `before` and `after` as in the store. */
export interface ObjectChange {
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

/** One cluster's verbs, and what belongs to whoever runs it rather than to its clients. */
export interface ClusterCore {
  readonly api: ClusterApi;
  /** Serves a kind; one of the same group, version and plural is replaced, its objects stay. */
  readonly register: (definition: ResourceDefinition) => void;
  /** Serves it no more; with its last version its objects go. */
  readonly unregister: (definition: ResourceDefinition) => void;
  /** Calls back for every change of every kind, in order. A callback may write. */
  readonly onChange: (each: (definition: ResourceDefinition, change: ObjectChange) => void) => () => void;
  /** Creates or replaces, status included. */
  readonly seed: (definition: ResourceDefinition, object: JsonObject) => JsonObject;
  /** Ends what runs by itself. */
  readonly stop: () => void;
}

const SEEDING: WriteOptions = { dryRun: false, fieldManager: "seed", fieldValidation: "Ignore" };

export function createClusterApi({ clock, randomBytes, definitions = [] }: ClusterApiDeps): ClusterCore {
  const store = createStore();
  const registry = createRegistry();
  const context: ApiContext = { store, registry, wallMs: clock.wallMs, randomBytes };
  for (const definition of definitions) registry.add(definition);
  const stop = startCollectors(context, clock);
  return {
    api: verbs(context),
    register: registry.add,
    unregister: (definition) => {
      registry.remove(definition);
      if (registry.byResource(resourceOf(definition)) === undefined) drop(context, resourceOf(definition));
    },
    onChange: (each) =>
      store.watch({
        after: store.version(),
        each: ({ resource, before, after }: Change) => {
          const definition = registry.byResource(resource);
          if (definition === undefined) return;
          each(definition, {
            ...(before === undefined ? {} : { before }),
            ...(after === undefined ? {} : { after }),
          });
        },
      }),
    seed: (definition, object) => seed(context, definition, object).object,
    stop,
  };
}

function verbs(context: ApiContext): ClusterApi {
  const { store, registry } = context;
  return {
    definitions: registry.definitions,
    get: (target) => present(target.definition, find(context, target)),
    list: (target, query) => listObjects(context, target, query),
    create: (target, object, options) => createObject(context, target, { object, options }),
    update: (target, object, options) => {
      const old = stored(context, target);
      if (old === undefined) return createByUpdate(context, target, { object, options });
      const manage = tracker(context, target, { old, object, options });
      return replaceObject(context, target, { old, object, options, isPatch: false, manage });
    },
    patch: (target, patch, options) => patchObject(context, target, { patch, options }),
    delete: (target, options) => deleteObject(context, target, options).body,
    deleteCollection: (target, query, options) => deleteCollection(context, target, { query, options }),
    watch: (target, query, each) => watchObjects(context, { target, query, each }),
    compact: store.compact,
    resourceVersion: () => String(store.version()),
  };
}

function stored({ store }: ApiContext, { definition, namespace, name }: Target): JsonObject | undefined {
  return store.get(resourceOf(definition), keyOf(definition.isNamespaced ? namespace : "", name));
}

function find(context: ApiContext, target: Target): JsonObject {
  const object = stored(context, target);
  if (object === undefined) throw notFound(target.definition, target.name);
  return object;
}

function createByUpdate(context: ApiContext, target: Target, birth: Birth): Written {
  const { definition, name, subresource } = target;
  if (definition.allowsCreateOnUpdate !== true || subresource !== undefined) throw notFound(definition, name);
  checkName(target, birth.object);
  return createObject(context, target, birth);
}

function seed(context: ApiContext, definition: ResourceDefinition, object: JsonObject): Written {
  const namespace = namespaceOf(object);
  const name = nameOf(object);
  const place: CollectionTarget = namespace === "" ? { definition } : { definition, namespace };
  const old = context.store.get(
    resourceOf(definition),
    keyOf(definition.isNamespaced ? namespace : "", name),
  );
  if (old === undefined) return createObject(context, place, { object, options: SEEDING, keepsStatus: true });
  const target = { ...place, name };
  const manage = tracker(context, target, { old, object, options: SEEDING });
  return replaceObject(context, target, {
    old,
    object,
    options: SEEDING,
    isPatch: true,
    manage,
    keepsStatus: true,
  });
}

function drop({ store }: ApiContext, resource: string): void {
  const query = {
    span: { from: "" },
    at: store.version(),
    limit: Number.POSITIVE_INFINITY,
    matches: () => true,
  };
  for (const object of store.page(resource, query).objects) {
    store.delete(resource, keyOf(namespaceOf(object), nameOf(object)));
  }
}
