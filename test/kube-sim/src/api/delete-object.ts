import {
  isSame,
  isTerminating,
  type JsonObject,
  metadataOf,
  nameOf,
  namespaceOf,
  objectAt,
  textAt,
  uidOf,
  withMetadata,
} from "../json.ts";
import type { CollectionTarget, DeleteOptions, ResourceDefinition, Target } from "./cluster-api.ts";
import { present } from "./identity.ts";
import { listObjects } from "./list-objects.ts";
import { type ApiContext, placeOf, resourceOf, timestamp } from "./registry.ts";
import { isFinished } from "./replace-object.ts";
import { conflict, forbidden, notFound, success } from "./statuses.ts";

const KEPT_NAMESPACES = ["default", "kube-system", "kube-public"];
/** Kinds whose deletion answers with the object, where others answer with a Status. */
const ANSWERS_OBJECT = ["pods", "serviceaccounts", "namespaces"];

/** The answer: what is left of the object, or what it was. */
export function deleteObject(context: ApiContext, target: Target, options: DeleteOptions): JsonObject {
  const { definition, name } = target;
  const [resource, key] = placeOf(target);
  const object = context.store.get(resource, key);
  if (object === undefined) throw notFound(definition, name);
  checkPreconditions(definition, object, options);
  if (resource === "namespaces" && KEPT_NAMESPACES.includes(name)) {
    throw forbidden(definition, name, "this namespace may not be deleted");
  }
  const marked = mark(context, definition, { object, options });
  if (!isFinished(definition, marked)) {
    const isStored = options.dryRun || isSame(marked, object);
    return present(definition, isStored ? marked : context.store.put(resource, key, marked));
  }
  if (!options.dryRun) context.store.delete(resource, key);
  return ANSWERS_OBJECT.includes(resource)
    ? present(definition, object)
    : success(definition, name, uidOf(object));
}

function checkPreconditions(
  { group, kind }: ResourceDefinition,
  object: JsonObject,
  { uid, resourceVersion }: DeleteOptions,
): void {
  const wanted = [
    ["UID", uid, uidOf(object), "deleted and then recreated"],
    ["ResourceVersion", resourceVersion, textAt(object, "metadata.resourceVersion"), "modified"],
  ] as const;
  for (const [what, asked, found, fate] of wanted) {
    if (asked === undefined || asked === found) continue;
    const why = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found})`;
    // A real API server names the kind here, not the plural.
    throw conflict({ group, plural: kind }, nameOf(object), `${why}. The object might have been ${fate}`);
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
  if (isTerminating(object)) return hastened(object, grace);
  const { generation } = metadataOf(object);
  const terminating = withMetadata(object, {
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
  const askedMs = Date.parse(textAt(metadata, "deletionTimestamp")) - before * 1000;
  return withMetadata(object, {
    deletionTimestamp: timestamp(askedMs + grace * 1000),
    deletionGracePeriodSeconds: grace,
  });
}

/** Deletes all objects of a kind, in one namespace where one is named. */
export function deleteAll(context: ApiContext, target: CollectionTarget): void {
  const { definition } = target;
  for (const object of listObjects(context, target, {}).items) {
    // Whoever watches may have taken it away already.
    const one = { definition, namespace: namespaceOf(object), name: nameOf(object) };
    if (context.store.get(...placeOf(one)) === undefined) continue;
    deleteObject(context, one, { dryRun: false });
  }
}
