import type { JsonObject } from "../json.ts";
import {
  finalizersOf,
  isSame,
  isTerminating,
  metadataOf,
  objectAt,
  stringAt,
  uidOf,
  withFinalizers,
  withMetadata,
} from "../json-access.ts";
import type { DeleteOptions, Target } from "./cluster-api.ts";
import { type ApiContext, timestamp } from "./context.ts";
import type { ResourceDefinition } from "./definition.ts";
import { present } from "./identity.ts";
import { keyOf, resourceOf } from "./registry.ts";
import { isFinished } from "./replace-object.ts";
import { conflict, forbidden, notFound, success } from "./statuses.ts";

/** Finalizers by which a deletion tells the garbage collector what to do with dependents. */
export const ORPHAN = "orphan";
export const FOREGROUND = "foregroundDeletion";

const KEPT_NAMESPACES = ["default", "kube-system", "kube-public"];
/** Kinds whose deletion answers with the object, where others answer with a Status. */
const ANSWERS_OBJECT = ["pods", "serviceaccounts", "namespaces"];

export interface Deletion {
  /** What is left of it; absent: it is gone. */
  readonly remains?: JsonObject;
  readonly body: JsonObject;
}

export function deleteObject(context: ApiContext, target: Target, options: DeleteOptions): Deletion {
  const { definition, name } = target;
  const resource = resourceOf(definition);
  const key = keyOf(definition.isNamespaced ? target.namespace : "", name);
  const object = context.store.get(resource, key);
  if (object === undefined) throw notFound(definition, name);
  checkPreconditions(definition, object, options);
  if (resource === "namespaces" && KEPT_NAMESPACES.includes(name)) {
    throw forbidden(definition, name, "this namespace may not be deleted");
  }
  const marked = mark(context, definition, { object, options });
  if (!isFinished(definition, marked)) {
    const isStored = options.dryRun || isSame(marked, object);
    const remains = isStored ? marked : context.store.put(resource, key, marked);
    return { remains, body: present(definition, remains) };
  }
  if (!options.dryRun) context.store.delete(resource, key);
  const body = ANSWERS_OBJECT.includes(resource)
    ? present(definition, object)
    : success(definition, name, uidOf(object));
  return { body };
}

function checkPreconditions(
  { group, kind }: ResourceDefinition,
  object: JsonObject,
  options: DeleteOptions,
): void {
  const { uid, resourceVersion } = options;
  const metadata = metadataOf(object);
  // A real API server names the kind here, not the plural.
  const about = { group, plural: kind };
  const name = stringAt(metadata, "name");
  if (uid !== undefined && uid !== metadata["uid"]) {
    throw conflict(
      about,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${uidOf(object)}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata["resourceVersion"]) {
    throw conflict(
      about,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${stringAt(metadata, "resourceVersion")}). The object might have been modified`,
    );
  }
}

interface Request {
  readonly object: JsonObject;
  readonly options: DeleteOptions;
}

/** The object as one that is being deleted. */
function mark(context: ApiContext, definition: ResourceDefinition, request: Request): JsonObject {
  const { object, options } = request;
  const grace = definition.graceSeconds?.(object, options.gracePeriodSeconds) ?? 0;
  const finalizers = finalizersFor(finalizersOf(object), options.propagation);
  const held = isSame(finalizers, finalizersOf(object)) ? object : withFinalizers(object, finalizers);
  if (isTerminating(object)) return hastened(held, grace);
  const { generation } = metadataOf(object);
  const terminating = withMetadata(held, {
    deletionTimestamp: timestamp(context.wallMs() + grace * 1000),
    deletionGracePeriodSeconds: grace,
    ...(typeof generation === "number" ? { generation: generation + 1 } : {}),
  });
  if (resourceOf(definition) !== "namespaces") return terminating;
  return { ...terminating, status: { ...objectAt(terminating, "status"), phase: "Terminating" } };
}

/** A second deletion can only shorten the wait. */
function hastened(object: JsonObject, grace: number): JsonObject {
  const metadata = metadataOf(object);
  const { deletionGracePeriodSeconds: before } = metadata;
  if (typeof before !== "number" || grace >= before) return object;
  const askedMs = Date.parse(stringAt(metadata, "deletionTimestamp")) - before * 1000;
  return withMetadata(object, {
    deletionTimestamp: timestamp(askedMs + grace * 1000),
    deletionGracePeriodSeconds: grace,
  });
}

function finalizersFor(
  finalizers: readonly string[],
  propagation: DeleteOptions["propagation"],
): readonly string[] {
  const others = finalizers.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (propagation === "Background") return others;
  return [...others, propagation === "Orphan" ? ORPHAN : FOREGROUND];
}
