import type { JsonObject, JsonValue } from "../json.ts";
import { isList, isObject, metadataOf, nameOf, textOf, uidOf, withMetadata } from "../json-access.ts";
import { type Applied, applyConfiguration } from "../patch/apply/apply.ts";
import { managedFields } from "../patch/apply/managers.ts";
import { trackUpdate } from "../patch/apply/track-update.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicPatch } from "../patch/strategic-patch.ts";
import { requiredValue } from "./causes.ts";
import type { PatchBody, PatchOptions, Target, WriteOptions, Written } from "./cluster-api.ts";
import { type ApiContext, timestamp } from "./context.ts";
import { createObject } from "./create-object.ts";
import type { ResourceDefinition } from "./definition.ts";
import { checkName, inNamespace, present } from "./identity.ts";
import { apiVersionOf, keyOf, resourceOf } from "./registry.ts";
import { replaceObject } from "./replace-object.ts";
import { badRequest, conflict, invalid, notFound, unsupportedMedia } from "./statuses.ts";

interface PatchRequest {
  readonly patch: PatchBody;
  readonly options: PatchOptions;
}

export function patchObject(context: ApiContext, target: Target, { patch, options }: PatchRequest): Written {
  const { definition, name, namespace } = target;
  const old = context.store.get(
    resourceOf(definition),
    keyOf(definition.isNamespaced ? namespace : "", name),
  );
  if (patch.kind === "apply") return applyObject(context, target, { old, config: patch.body, options });
  if (old === undefined) throw notFound(definition, name);
  const object = patched(definition, present(definition, old), patch);
  return replaceObject(context, target, {
    old,
    object,
    options,
    isPatch: true,
    manage: tracker(context, target, { old, object, options }),
  });
}

function patched(definition: ResourceDefinition, object: JsonObject, patch: PatchBody): JsonObject {
  if (patch.kind === "json") return jsonPatch(object, patch.body);
  if (!isObject(patch.body)) throw badRequest("the patch is no object");
  if (patch.kind === "merge") return mergePatch(object, patch.body);
  if (definition.mergeKeys !== undefined) return strategicPatch(object, patch.body, definition.mergeKeys);
  throw unsupportedMedia([
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
  ]);
}

interface Move {
  readonly old: JsonObject;
  readonly object: JsonObject;
  readonly options: WriteOptions;
}

/** Who owns what after a write that is no apply. A client that sends an empty list gives up all ownership. */
export function tracker(
  context: ApiContext,
  { definition, subresource }: Target,
  { old, object, options }: Move,
): (next: JsonObject) => readonly JsonValue[] {
  const sent = metadataOf(object)["managedFields"];
  if (isList(sent) && sent.every((entry) => isObject(entry) && Object.keys(entry).length === 0)) {
    return () => [];
  }
  const isStatus = subresource === "status";
  const { fieldManager } = options;
  return (next) => {
    const managers = trackUpdate({ definition, old, next, isStatus, fieldManager });
    return managedFields(managers, timestamp(context.wallMs()));
  };
}

interface ApplyRequest {
  readonly old: JsonObject | undefined;
  readonly config: JsonObject;
  readonly options: PatchOptions;
}

function applyObject(
  context: ApiContext,
  target: Target,
  { old, config: body, options }: ApplyRequest,
): Written {
  const { definition } = target;
  checkConfiguration(target, body, options);
  const config = placed(target, body);
  const isStatus = target.subresource === "status";
  if (old === undefined && isStatus) throw notFound(definition, target.name);
  const { fieldManager, force } = options;
  const applied = applyConfiguration(old === undefined ? undefined : present(definition, old), config, {
    definition,
    isStatus,
    fieldManager,
    force,
  });
  const managed = managedFields(applied.managers, timestamp(context.wallMs()));
  if (old === undefined) return createApplied(context, target, { config, options, managed });
  return replaceObject(context, target, {
    old,
    object: versioned(applied, config),
    options,
    isPatch: true,
    manage: () => managed,
  });
}

function createApplied(
  context: ApiContext,
  target: Target,
  birth: {
    readonly config: JsonObject;
    readonly options: PatchOptions;
    readonly managed: readonly JsonValue[];
  },
): Written {
  const { config, options, managed } = birth;
  if (uidOf(config) !== "") {
    const why = `uid mismatch: the provided object specified uid ${uidOf(config)}, and no existing object was found`;
    throw conflict(target.definition, target.name, why);
  }
  return createObject(context, target, { object: config, options, managedFields: managed });
}

/** A version in the configuration is a condition. */
function versioned({ object }: Applied, config: JsonObject): JsonObject {
  const { uid, resourceVersion } = metadataOf(config);
  return withMetadata(object, {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  });
}

function checkConfiguration(target: Target, config: JsonObject, { fieldManager }: PatchOptions): void {
  if (fieldManager === "") {
    throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
      requiredValue("fieldManager", "is required for apply patch"),
    ]);
  }
  const expected = apiVersionOf(target.definition);
  const { apiVersion, kind } = config;
  if (apiVersion !== expected) {
    throw badRequest(
      `Incorrect version specified in apply patch. Specified patch version: ${textOf(apiVersion)}, expected: ${expected}`,
    );
  }
  if (kind === undefined) throw badRequest(`Object 'Kind' is missing in '${JSON.stringify(config)}'`);
  if (metadataOf(config)["managedFields"] !== undefined) {
    throw badRequest("metadata.managedFields must be nil");
  }
}

/** The path's name and namespace, unless the configuration says others. */
function placed(target: Target, config: JsonObject): JsonObject {
  const object = nameOf(config) === "" ? withMetadata(config, { name: target.name }) : config;
  checkName(target, object);
  return inNamespace(target, object);
}
