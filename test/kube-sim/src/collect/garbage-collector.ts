import type { Clock } from "@resource-broker/base";
import type { ResourceDefinition } from "../api/cluster-api.ts";
import { deleteObject, FOREGROUND, ORPHAN } from "../api/delete-object.ts";
import { type ApiContext, keyOf, resourceOf } from "../api/registry.ts";
import { isFinished } from "../api/replace-object.ts";
import { StatusError } from "../api/statuses.ts";
import {
  finalizersOf,
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
  withFinalizers,
  withMetadata,
} from "../json.ts";
import type { Change } from "../store/changes.ts";

/** Deletes what lost its last owner, and does for owners that go what their deletion asked: orphan, or wait. */
export function garbageCollector(context: ApiContext, clock: Clock): () => void {
  const graph = ownerGraph();
  const queue = tickQueue<Place>(clock, (place) => look({ context, graph, enqueue: queue.add }, place));
  const stop = context.store.watch({
    after: 0,
    each: (change) => {
      graph.note(change);
      for (const place of concerned(context, graph, change)) queue.add(place);
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
  readonly dependentsOf: (uid: string) => readonly Place[];
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
    dependentsOf: (uid) => [...(dependents.get(uid) ?? [])],
  };
}

function referencesOf(object: JsonObject): readonly JsonObject[] {
  return listAt(metadataOf(object), "ownerReferences").filter(isObject);
}

function ownerUid(reference: JsonObject): string {
  return textAt(reference, "uid");
}

function withReferences(object: JsonObject, ownerReferences: readonly JsonObject[]): JsonObject {
  return withMetadata(object, {
    ownerReferences: ownerReferences.length === 0 ? undefined : ownerReferences,
  });
}

/** Without the references to these owners. */
function disowned(object: JsonObject, uids: readonly string[]): JsonObject {
  return withReferences(
    object,
    referencesOf(object).filter((reference) => !uids.includes(ownerUid(reference))),
  );
}

/** Whose fate a change may decide. Most changes decide nobody's. */
function concerned(
  context: ApiContext,
  graph: OwnerGraph,
  { resource, key, before = {}, after }: Change,
): readonly Place[] {
  const formerOwners = () =>
    referencesOf(before).flatMap((owner) => ownerPlace(context, before, owner) ?? []);
  // An owner may have waited for this one; and one that goes decides over those it owned.
  if (after === undefined) return [...formerOwners(), ...graph.dependentsOf(uidOf(before))];
  const self = placeOf(resource, key);
  if (!isSame(referencesOf(before), referencesOf(after))) return [self, ...formerOwners()];
  return isTerminating(after) ? [self] : [];
}

interface Work {
  readonly context: ApiContext;
  readonly graph: OwnerGraph;
  readonly enqueue: (place: Place) => void;
}

interface Subject {
  readonly place: Place;
  readonly object: JsonObject;
  readonly definition: ResourceDefinition;
}

function look(work: Work, place: Place): void {
  for (const subject of subjectsAt(work.context, [place])) {
    const { object } = subject;
    if (isWaitingFor(object, ORPHAN)) orphanDependents(work, subject);
    else if (isWaitingFor(object, FOREGROUND)) awaitDependents(work, subject);
    else if (!isTerminating(object)) judgeByOwners(work, subject);
  }
}

function isWaitingFor(object: JsonObject, finalizer: string): boolean {
  return isTerminating(object) && finalizersOf(object).includes(finalizer);
}

/** What is still there of these. */
function subjectsAt({ store, registry }: ApiContext, places: readonly Place[]): readonly Subject[] {
  return places.flatMap((place) => {
    const [resource, key] = resourceAndKey(place);
    const object = store.get(resource, key);
    const definition = registry.byResource(resource);
    return object === undefined || definition === undefined ? [] : [{ place, object, definition }];
  });
}

function orphanDependents({ context, graph }: Work, subject: Subject): void {
  const uid = uidOf(subject.object);
  for (const dependent of subjectsAt(context, graph.dependentsOf(uid)))
    write(context, dependent, disowned(dependent.object, [uid]));
  removeFinalizer(context, subject, ORPHAN);
}

/** Foreground deletion: dependents go first, and those that block hold the owner until they are gone. */
function awaitDependents({ context, graph, enqueue }: Work, subject: Subject): void {
  const uid = uidOf(subject.object);
  const blocking = subjectsAt(context, graph.dependentsOf(uid)).filter(({ object }) =>
    referencesOf(object).some((owner) => ownerUid(owner) === uid && owner["blockOwnerDeletion"] === true),
  );
  if (blocking.length === 0) removeFinalizer(context, subject, FOREGROUND);
  for (const { place } of blocking) enqueue(place);
}

function judgeByOwners({ context, graph }: Work, subject: Subject): void {
  const { object } = subject;
  const owners = referencesOf(object).map((owner) => ({
    uid: ownerUid(owner),
    state: stateOf(context, object, owner),
  }));
  if (owners.length === 0) return;
  const lost = owners.filter(({ state }) => state === "gone" || state === "waiting").map(({ uid }) => uid);
  if (lost.length < owners.length) {
    if (lost.length > 0) write(context, subject, disowned(object, lost));
    return;
  }
  const dependents = subjectsAt(context, graph.dependentsOf(uidOf(object)));
  const isAwaited = owners.some(({ state }) => state === "waiting");
  if (!isAwaited || dependents.length === 0) return remove(context, subject, propagationOf(object));
  // A circle of owners that wait for each other would never end: then this one holds nobody back.
  const isCircle = dependents.some((dependent) => isWaitingFor(dependent.object, FOREGROUND));
  if (isCircle) write(context, subject, unblocking(object));
  remove(context, subject, "Foreground");
}

/** With references that hold no owner back. */
function unblocking(object: JsonObject): JsonObject {
  return withReferences(
    object,
    referencesOf(object).map((reference) =>
      reference["blockOwnerDeletion"] === true ? { ...reference, blockOwnerDeletion: false } : reference,
    ),
  );
}

type Propagation = "Background" | "Foreground" | "Orphan";

function propagationOf(object: JsonObject): Propagation {
  if (finalizersOf(object).includes(ORPHAN)) return "Orphan";
  return finalizersOf(object).includes(FOREGROUND) ? "Foreground" : "Background";
}

function stateOf(
  context: ApiContext,
  object: JsonObject,
  owner: JsonObject,
): "there" | "waiting" | "gone" | "unknown" {
  const place = ownerPlace(context, object, owner);
  // A kind that is not served may exist elsewhere or later: nothing is deleted on a guess.
  if (place === undefined) return "unknown";
  const found = context.store.get(...resourceAndKey(place));
  if (found === undefined || uidOf(found) !== ownerUid(owner)) return "gone";
  return isWaitingFor(found, FOREGROUND) ? "waiting" : "there";
}

function ownerPlace({ registry }: ApiContext, object: JsonObject, owner: JsonObject): Place | undefined {
  const definition = registry.byKind(textAt(owner, "apiVersion"), textAt(owner, "kind"));
  if (definition === undefined) return undefined;
  const namespace = definition.isNamespaced ? namespaceOf(object) : "";
  return placeOf(resourceOf(definition), keyOf(namespace, textAt(owner, "name")));
}

function removeFinalizer(context: ApiContext, subject: Subject, finalizer: string): void {
  const left = finalizersOf(subject.object).filter((other) => other !== finalizer);
  write(context, subject, withFinalizers(subject.object, left));
}

function write({ store }: ApiContext, { place, definition }: Subject, object: JsonObject): void {
  const [resource, key] = resourceAndKey(place);
  if (isFinished(definition, object)) store.delete(resource, key);
  else store.put(resource, key, object);
}

function remove(context: ApiContext, { definition, object }: Subject, propagation: Propagation): void {
  const target = { definition, namespace: namespaceOf(object), name: nameOf(object) };
  deleteObject(context, target, { dryRun: false, propagation, uid: uidOf(object) });
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
