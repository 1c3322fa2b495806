import type { Clock } from "@resource-broker/base";
import type { ApiContext } from "../api/context.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { deleteObject, FOREGROUND, ORPHAN } from "../api/delete-object.ts";
import { keyOf, resourceOf } from "../api/registry.ts";
import { isFinished } from "../api/replace-object.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import {
  finalizersOf,
  isSame,
  isTerminating,
  listAt,
  metadataOf,
  nameOf,
  namespaceOf,
  uidOf,
  withFinalizers,
} from "../json-access.ts";
import type { Change } from "../store/change.ts";
import { type OwnerGraph, ownerGraph, type Place, placeOf, resourceAndKey } from "./owner-graph.ts";
import { disowned, type Owner, ownersOf, unblocking } from "./owners.ts";
import { tickQueue } from "./tick.ts";

/** Deletes what lost its last owner, and does for owners that go what their deletion asked: orphan, or wait. */
export function garbageCollector(context: ApiContext, clock: Clock): () => void {
  const { store } = context;
  const graph = ownerGraph();
  const queue = tickQueue<Place>(clock, (place) => look({ context, graph, enqueue: queue.add }, place));
  const stop = store.watch({
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

/** Whose fate a change may decide. Most changes decide nobody's. */
function concerned(
  context: ApiContext,
  graph: OwnerGraph,
  { resource, key, before, after }: Change,
): readonly Place[] {
  const owners = before === undefined ? [] : ownersOf(before);
  const formerOwners = () => owners.flatMap((owner) => ownerPlace(context, before ?? {}, owner) ?? []);
  // An owner may have waited for this one; and one that goes decides over those it owned.
  if (after === undefined) return [...formerOwners(), ...graph.dependentsOf(uidOf(before ?? {}))];
  const self = placeOf(resource, key);
  if (!isSame(ownerReferencesOf(before), ownerReferencesOf(after))) return [self, ...formerOwners()];
  return isTerminating(after) ? [self] : [];
}

function ownerReferencesOf(object: JsonObject | undefined): JsonValue {
  return object === undefined ? [] : listAt(metadataOf(object), "ownerReferences");
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
  const subject = subjectAt(work.context, place);
  if (subject === undefined) return;
  const finalizers = isTerminating(subject.object) ? finalizersOf(subject.object) : [];
  if (finalizers.includes(ORPHAN)) orphanDependents(work, subject);
  else if (finalizers.includes(FOREGROUND)) awaitDependents(work, subject);
  else if (!isTerminating(subject.object)) judgeByOwners(work, subject);
}

function subjectAt({ store, registry }: ApiContext, place: Place): Subject | undefined {
  const [resource, key] = resourceAndKey(place);
  const object = store.get(resource, key);
  const definition = registry.byResource(resource);
  return object === undefined || definition === undefined ? undefined : { place, object, definition };
}

function orphanDependents({ context, graph }: Work, subject: Subject): void {
  const uid = uidOf(subject.object);
  for (const place of graph.dependentsOf(uid)) {
    const dependent = subjectAt(context, place);
    if (dependent !== undefined) write(context, dependent, disowned(dependent.object, new Set([uid])));
  }
  removeFinalizer(context, subject, ORPHAN);
}

/** Foreground deletion: dependents go first, and those that block hold the owner until they are gone. */
function awaitDependents({ context, graph, enqueue }: Work, subject: Subject): void {
  const uid = uidOf(subject.object);
  const blocking = graph.dependentsOf(uid).filter((place) => {
    const dependent = subjectAt(context, place);
    return (
      dependent !== undefined && ownersOf(dependent.object).some((owner) => owner.uid === uid && owner.blocks)
    );
  });
  if (blocking.length === 0) return removeFinalizer(context, subject, FOREGROUND);
  for (const place of blocking) enqueue(place);
}

function judgeByOwners({ context, graph }: Work, subject: Subject): void {
  const { object } = subject;
  const owners = ownersOf(object).map((owner) => ({ owner, state: stateOf(context, object, owner) }));
  if (owners.length === 0) return;
  const isSolid = owners.some(({ state }) => state === "there" || state === "unknown");
  const lost = new Set(
    owners.filter(({ state }) => state === "gone" || state === "waiting").map(({ owner }) => owner.uid),
  );
  if (isSolid) {
    if (lost.size > 0) write(context, subject, disowned(object, lost));
    return;
  }
  const dependents = graph.dependentsOf(uidOf(object));
  const isAwaited = owners.some(({ state }) => state === "waiting");
  if (isAwaited && dependents.length > 0) return removeInForeground(context, subject, dependents);
  remove(context, subject, propagationOf(object));
}

/** A circle of owners that wait for each other would never end: then this one holds nobody back. */
function removeInForeground(context: ApiContext, subject: Subject, dependents: readonly Place[]): void {
  const isCircle = dependents.some((place) => {
    const dependent = subjectAt(context, place)?.object;
    return (
      dependent !== undefined && isTerminating(dependent) && finalizersOf(dependent).includes(FOREGROUND)
    );
  });
  if (isCircle) write(context, subject, unblocking(subject.object));
  remove(context, subject, "Foreground");
}

function propagationOf(object: JsonObject): "Background" | "Foreground" | "Orphan" {
  if (finalizersOf(object).includes(ORPHAN)) return "Orphan";
  return finalizersOf(object).includes(FOREGROUND) ? "Foreground" : "Background";
}

type OwnerState = "there" | "waiting" | "gone" | "unknown";

function stateOf({ store, registry }: ApiContext, object: JsonObject, owner: Owner): OwnerState {
  const place = ownerPlace({ registry }, object, owner);
  // A kind that is not served may exist elsewhere or later: nothing is deleted on a guess.
  if (place === undefined) return "unknown";
  const found = store.get(...resourceAndKey(place));
  if (found === undefined || uidOf(found) !== owner.uid) return "gone";
  const isWaiting = isTerminating(found) && finalizersOf(found).includes(FOREGROUND);
  return isWaiting ? "waiting" : "there";
}

function ownerPlace(
  { registry }: Pick<ApiContext, "registry">,
  object: JsonObject,
  { apiVersion, kind, name }: Owner,
): Place | undefined {
  const definition = registry.byKind(apiVersion, kind);
  if (definition === undefined) return undefined;
  return placeOf(resourceOf(definition), keyOf(definition.isNamespaced ? namespaceOf(object) : "", name));
}

function removeFinalizer(context: ApiContext, subject: Subject, finalizer: string): void {
  const { object } = subject;
  write(
    context,
    subject,
    withFinalizers(
      object,
      finalizersOf(object).filter((other) => other !== finalizer),
    ),
  );
}

function write({ store }: ApiContext, { place, definition }: Subject, object: JsonObject): void {
  const [resource, key] = resourceAndKey(place);
  if (isFinished(definition, object)) store.delete(resource, key);
  else store.put(resource, key, object);
}

function remove(
  context: ApiContext,
  { definition, object }: Subject,
  propagation: "Background" | "Foreground" | "Orphan",
): void {
  const namespace = namespaceOf(object);
  const place = namespace === "" ? { definition } : { definition, namespace };
  deleteObject(
    context,
    { ...place, name: nameOf(object) },
    { dryRun: false, propagation, uid: uidOf(object) },
  );
}
