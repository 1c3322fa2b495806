import type { Clock } from "@resource-broker/base";
import { startCollectors } from "../collect/collectors.ts";
import { type JsonObject, nameOf, namespaceOf, withMetadata } from "../json.ts";
import type { Change } from "../store/changes.ts";
import { createStore, type Store } from "../store/store.ts";
import type {
  ClusterApi,
  CollectionTarget,
  ResourceDefinition,
  Target,
  Watch,
  WatchChange,
  WatchQuery,
  WriteOptions,
  Written,
} from "./cluster-api.ts";
import { type ApiContext, createRegistry, keyOf, placeOf, resourceOf } from "./registry.ts";
import { createObject } from "./create-object.ts";
import { deleteObject } from "./delete-object.ts";
import { present } from "./identity.ts";
import { listObjects, readVersion, spanOf } from "./list-objects.ts";
import { patchObject } from "./patch-object.ts";
import { replaceObject } from "./replace-object.ts";
import { expired, notFound, tooLargeVersion } from "./statuses.ts";
import { selectorOf } from "../selectors/selectors.ts";

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
      const old = store.get(...placeOf(target));
      if (old === undefined) throw notFound(target.definition, target.name);
      return replaceObject(context, target, { old, object, options, isPatch: false });
    },
    patch: (target, patch, options) => patchObject(context, target, { patch, options }),
    delete: (target, options) => deleteObject(context, target, options),
    watch: (target, query, each) => watchObjects(context, { target, query, each }),
    compact: store.compact,
    resourceVersion: () => String(store.version()),
  };
}

function find(context: ApiContext, target: Target): JsonObject {
  const object = context.store.get(...placeOf(target));
  if (object === undefined) throw notFound(target.definition, target.name);
  return object;
}

function seed(context: ApiContext, definition: ResourceDefinition, object: JsonObject): Written {
  const target = { definition, namespace: namespaceOf(object), name: nameOf(object) };
  const old = context.store.get(...placeOf(target));
  const write = { object, options: SEEDING, keepsStatus: true };
  return old === undefined
    ? createObject(context, target, write)
    : replaceObject(context, target, { ...write, old, isPatch: true });
}

/** With the last version of a kind its objects go. */
function drop({ store }: ApiContext, resource: string): void {
  const all = {
    span: { from: "" },
    at: store.version(),
    limit: Number.POSITIVE_INFINITY,
    matches: () => true,
  };
  for (const object of store.page(resource, all).objects)
    store.delete(resource, keyOf(namespaceOf(object), nameOf(object)));
}

interface WatchRequest {
  readonly target: CollectionTarget;
  readonly query: WatchQuery;
  readonly each: (change: WatchChange) => void;
}

/** What has already happened is told before this returns, so that a bookmark may follow at once. */
function watchObjects({ store }: ApiContext, { target, query, each }: WatchRequest): Watch {
  const { definition } = target;
  const { matches } = selectorOf(definition, query);
  const resource = resourceOf(definition);
  const namespace = definition.isNamespaced ? (target.namespace ?? "") : "";
  const start = startOf(store, query);
  let isStopped = false;
  const notify = (change: Change) => {
    const event = isStopped ? undefined : asSeen(definition, change, matches);
    if (event !== undefined) each(event);
  };
  if (start.wantsObjects) {
    const everything = { span: spanOf(target), at: start.version, limit: Number.POSITIVE_INFINITY, matches };
    for (const object of store.page(resource, everything).objects) {
      each({ type: "ADDED", object: present(definition, object) });
    }
  }
  const seen = catchUp(store, start.version, (change) => {
    if (isInside(change, resource, namespace)) notify(change);
  });
  const place = namespace === "" ? { resource } : { resource, namespace };
  const stop = store.watch({ ...place, after: seen, each: notify });
  return {
    stop: () => {
      isStopped = true;
      stop();
    },
  };
}

interface Start {
  readonly version: number;
  readonly wantsObjects: boolean;
}

function startOf(store: Store, { resourceVersion, sendInitialEvents }: WatchQuery): Start {
  const asked = readVersion(resourceVersion);
  const newest = store.version();
  if (asked > newest) throw tooLargeVersion(asked, newest);
  const wantsObjects = sendInitialEvents ?? asked === 0;
  if (wantsObjects || asked === 0) return { version: newest, wantsObjects };
  if (asked < store.oldest()) throw expired(`too old resource version: ${asked} (${store.oldest()})`);
  return { version: asked, wantsObjects };
}

/** A callback may write: what it adds is told in the next round, never before what was already there. */
function catchUp(store: Store, after: number, each: (change: Change) => void): number {
  let seen = after;
  while (seen < store.version()) {
    const round = seen;
    seen = store.version();
    for (const change of store.since(round)) {
      if (change.version > seen) break;
      each(change);
    }
  }
  return seen;
}

function isInside({ resource, key }: Change, wanted: string, namespace: string): boolean {
  return resource === wanted && (namespace === "" || key.startsWith(`${namespace}/`));
}

/** A change as it looks through the selector: what stops matching is deleted for this watcher. */
function asSeen(
  definition: ResourceDefinition,
  change: Change,
  matches: (object: JsonObject) => boolean,
): WatchChange | undefined {
  const { before, after, last } = change;
  const was = before !== undefined && matches(before);
  if (after !== undefined && matches(after)) {
    return { type: was ? "MODIFIED" : "ADDED", object: present(definition, after) };
  }
  if (!was) return undefined;
  const object = last ?? withMetadata(before, { resourceVersion: String(change.version) });
  return { type: "DELETED", object: present(definition, object) };
}
