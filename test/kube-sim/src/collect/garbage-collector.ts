import type { Clock } from "@resource-broker/base";
import { deleteObject } from "../api/delete-object.ts";
import { type ApiContext, keyOf, resourceOf } from "../api/registry.ts";
import { StatusError } from "../api/statuses.ts";
import {
  isObject,
  isSame,
  isTerminating,
  type JsonObject,
  listAt,
  metadataOf,
  nameOf,
  namespaceOf,
  textAt,
  uidOf,
  withMetadata,
} from "../json.ts";
import type { Change } from "../store/changes.ts";

/** Deletes what has lost its last owner: the background deletion of Kubernetes, the only one here. */
export function garbageCollector(context: ApiContext, clock: Clock): () => void {
  const dependents = ownerGraph();
  const queue = tickQueue<Place>(clock, (place) => judgeByOwners(context, place));
  const stop = context.store.watch({
    after: 0,
    each: (change) => {
      dependents.note(change);
      for (const place of dependents.concernedBy(change)) queue.add(place);
    },
  });
  return () => {
    stop();
    queue.stop();
  };
}

/** Where an object lies: `resource key`. Neither holds a space. */
type Place = string;

function placeOf(resource: string, key: string): Place {
  return `${resource} ${key}`;
}

function resourceAndKey(place: Place): readonly [string, string] {
  const space = place.indexOf(" ");
  return [place.slice(0, space), place.slice(space + 1)];
}

/** Who names whom as an owner. Objects without owners cost nothing here. */
interface OwnerGraph {
  readonly note: (change: Change) => void;
  /** Whose fate a change may decide: mostly nobody's. */
  readonly concernedBy: (change: Change) => Iterable<Place>;
}

function ownerGraph(): OwnerGraph {
  const dependents = new Map<string, Set<Place>>();
  return {
    note: ({ resource, key, before = {}, after = {} }) => {
      const place = placeOf(resource, key);
      for (const uid of referencesOf(before).map(ownerUid)) {
        const known = dependents.get(uid);
        known?.delete(place);
        if (known?.size === 0) dependents.delete(uid);
      }
      for (const uid of referencesOf(after).map(ownerUid)) {
        if (uid !== uidOf(after)) dependents.set(uid, (dependents.get(uid) ?? new Set()).add(place));
      }
    },
    concernedBy: ({ resource, key, before = {}, after }) => {
      if (after === undefined) return dependents.get(uidOf(before)) ?? [];
      const isSameOwners = isSame(referencesOf(before), referencesOf(after));
      return isSameOwners ? [] : [placeOf(resource, key)];
    },
  };
}

function referencesOf(object: JsonObject): readonly JsonObject[] {
  return listAt(metadataOf(object), "ownerReferences").filter(isObject);
}

function ownerUid(reference: JsonObject): string {
  return textAt(reference, "uid");
}

function judgeByOwners(context: ApiContext, place: Place): void {
  const [resource, key] = resourceAndKey(place);
  const object = context.store.get(resource, key);
  const definition = context.registry.byResource(resource);
  if (object === undefined || definition === undefined || isTerminating(object)) return;
  const owners = referencesOf(object);
  const left = owners.filter((owner) => !isGone(context, object, owner));
  if (left.length === owners.length) return;
  if (left.length > 0) {
    context.store.put(resource, key, withMetadata(object, { ownerReferences: left }));
    return;
  }
  const target = { definition, namespace: namespaceOf(object), name: nameOf(object) };
  deleteObject(context, target, { dryRun: false, uid: uidOf(object) });
}

function isGone({ store, registry }: ApiContext, object: JsonObject, owner: JsonObject): boolean {
  const definition = registry.byKind(textAt(owner, "apiVersion"), textAt(owner, "kind"));
  // A kind that is not served may exist elsewhere or later: nothing is deleted on a guess.
  if (definition === undefined) return false;
  const namespace = definition.isNamespaced ? namespaceOf(object) : "";
  const found = store.get(resourceOf(definition), keyOf(namespace, textAt(owner, "name")));
  return found === undefined || uidOf(found) !== ownerUid(owner);
}

/** Keys that wait to be looked at, each once, on the next tick of the clock: never inside the write that caused it. */
interface Queue<Key> {
  readonly add: (key: Key) => void;
  readonly stop: () => void;
}

export function tickQueue<Key>(clock: Clock, look: (key: Key) => void): Queue<Key> {
  const waiting = new Set<Key>();
  let cancel: (() => void) | undefined;
  /** What the api refuses to a collector, such as the end of the default namespace, stays as it is. */
  const lookAt = (key: Key) => {
    try {
      look(key);
    } catch (problem) {
      if (!(problem instanceof StatusError)) throw problem;
    }
  };
  const run = () => {
    cancel = undefined;
    // What is added meanwhile is looked at in the same tick: a chain of owners falls at once.
    for (const key of waiting) {
      waiting.delete(key);
      lookAt(key);
    }
  };
  return {
    add: (key) => {
      waiting.add(key);
      cancel ??= clock.after(0, run);
    },
    stop: () => {
      waiting.clear();
      cancel?.();
    },
  };
}
