import {
  finalizersOf,
  isTerminating,
  type JsonObject,
  type JsonValue,
  metadataOf,
  namespaceOf,
  objectAt,
  textAt,
  withFinalizers,
  without,
} from "../json.ts";
import type { CollectionTarget, ResourceDefinition, WriteOptions, Written } from "./cluster-api.ts";
import { type ApiContext, keyOf, resourceOf, timestamp } from "./registry.ts";
import { admitted, asKind, inNamespace, present } from "./identity.ts";
import { checkMetadataTypes, metadataCauses } from "./metadata-rules.ts";
import { generatedName, newUid } from "./names.ts";
import { alreadyExists, failure, namespaceTerminating, notFound } from "./statuses.ts";

export interface Birth {
  readonly object: JsonObject;
  readonly options: WriteOptions;
  /** Who owns which field, if the object comes from an apply. */
  readonly managedFields?: readonly JsonValue[];
  /** True: a status in the body counts, although it has its own path. */
  readonly keepsStatus?: boolean;
}

const NAMESPACES = { group: "", plural: "namespaces" };
export const CUSTOM_RESOURCES = { group: "apiextensions.k8s.io", plural: "customresourcedefinitions" };
/** Keeps a CustomResourceDefinition until its objects are gone. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

/** In spec.finalizers of a namespace: keeps it until it is empty. */
export const CONTENT_FINALIZER = "kubernetes";

const KIND_GOES = "create not allowed while custom resource definition is terminating";
/** What a client says of these is not heard. */
const SYSTEM_FIELDS = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "resourceVersion",
  "selfLink",
  "managedFields",
];

export function createObject(context: ApiContext, target: CollectionTarget, birth: Birth): Written {
  const { definition } = target;
  checkMetadataTypes(definition, birth.object);
  const body = inNamespace(target, asKind(definition, birth.object));
  checkUnversioned(body);
  checkPlace(context, definition, body);
  const name = pickName(context, body);
  const object = born(context, definition, { ...birth, object: body, name });
  const write = { object, isStatus: false, fieldValidation: birth.options.fieldValidation };
  const { object: ready, warnings } = admitted(definition, write, metadataCauses(definition, object));
  const key = keyOf(namespaceOf(ready), name);
  const resource = resourceOf(definition);
  const taken = context.store.get(resource, key);
  if (taken !== undefined) throw alreadyExists(definition, name, isTerminating(taken));
  const stored = birth.options.dryRun ? ready : context.store.put(resource, key, ready);
  return { object: present(definition, stored), isNew: true, warnings };
}

function checkUnversioned(object: JsonObject): void {
  const version = textAt(metadataOf(object), "resourceVersion");
  if (version !== "" && version !== "0")
    throw failure(500, "", "resourceVersion should not be set on objects to be created");
}

/** The namespace exists and stays, and so does the kind. */
function checkPlace({ store }: ApiContext, definition: ResourceDefinition, object: JsonObject): void {
  const crd = store.get(resourceOf(CUSTOM_RESOURCES), resourceOf(definition));
  if (crd !== undefined && isTerminating(crd)) throw failure(405, "MethodNotAllowed", KIND_GOES);
  if (!definition.isNamespaced) return;
  const namespace = namespaceOf(object);
  const found = store.get(resourceOf(NAMESPACES), namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  if (isTerminating(found)) {
    throw namespaceTerminating(definition, textAt(metadataOf(object), "name"), namespace);
  }
}

function pickName(context: ApiContext, object: JsonObject): string {
  const metadata = metadataOf(object);
  const base = textAt(metadata, "generateName");
  const given = textAt(metadata, "name");
  if (given !== "" || base === "") return given;
  return generatedName(base, context.randomBytes);
}

function born(
  context: ApiContext,
  definition: ResourceDefinition,
  { object, name, managedFields, keepsStatus }: Birth & { readonly name: string },
): JsonObject {
  const hidesStatus = definition.hasStatus && keepsStatus !== true;
  const whole: JsonObject = {
    ...(hidesStatus ? without(object, "status") : object),
    metadata: {
      ...without(metadataOf(object), ...SYSTEM_FIELDS),
      ...(name === "" ? {} : { name }),
      uid: newUid(context.randomBytes),
      creationTimestamp: timestamp(context.wallMs()),
      ...(definition.hasGeneration ? { generation: 1 } : {}),
      ...(managedFields === undefined ? {} : { managedFields }),
    },
  };
  return held(definition, whole);
}

/** Some objects are held from the beginning, so that what depends on them goes first. */
function held(definition: ResourceDefinition, object: JsonObject): JsonObject {
  const resource = resourceOf(definition);
  if (resource === resourceOf(CUSTOM_RESOURCES)) {
    return withFinalizers(object, [...new Set([...finalizersOf(object), CLEANUP_FINALIZER])]);
  }
  if (resource !== resourceOf(NAMESPACES)) return object;
  return { ...object, spec: { ...objectAt(object, "spec"), finalizers: [CONTENT_FINALIZER] } };
}
