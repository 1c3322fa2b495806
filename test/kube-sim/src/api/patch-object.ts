import { isObject, type JsonObject, metadataOf, nameOf, textOf, uidOf, withMetadata } from "../json.ts";
import { type Applied, applyConfiguration } from "../patch/apply/apply.ts";
import { managedFields } from "../patch/apply/managers.ts";
import { jsonPatch, mergePatch } from "../patch/patches.ts";
import { strategicPatch } from "../patch/strategic-patch.ts";
import { required } from "./causes.ts";
import type { PatchBody, PatchOptions, ResourceDefinition, Target, Written } from "./cluster-api.ts";
import { createObject } from "./create-object.ts";
import { checkName, inNamespace, present } from "./identity.ts";
import { type ApiContext, apiVersionOf, placeOf, timestamp } from "./registry.ts";
import { replaceObject } from "./replace-object.ts";
import { badRequest, conflict, invalid, notFound, unsupportedMedia } from "./statuses.ts";

interface PatchRequest {
  readonly patch: PatchBody;
  readonly options: PatchOptions;
}

export function patchObject(context: ApiContext, target: Target, { patch, options }: PatchRequest): Written {
  const { definition } = target;
  const old = context.store.get(...placeOf(target));
  if (patch.kind === "apply") return applyObject(context, target, { old, config: patch.body, options });
  if (old === undefined) throw notFound(definition, target.name);
  const object = patched(definition, present(definition, old), patch);
  return replaceObject(context, target, { old, object, options, isPatch: true });
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
  const { definition, name } = target;
  checkConfiguration(target, body, options);
  const config = placed(target, body);
  const isStatus = target.subresource === "status";
  if (old === undefined && isStatus) throw notFound(definition, name);
  const live = old === undefined ? undefined : present(definition, old);
  const applied = applyConfiguration(live, config, { ...options, definition, isStatus });
  const managed = managedFields(applied.managers, timestamp(context.wallMs()));
  if (old !== undefined) {
    const object = versioned(applied, config);
    return replaceObject(context, target, { old, object, options, isPatch: true, managedFields: managed });
  }
  if (uidOf(config) !== "") {
    const why = `uid mismatch: the provided object specified uid ${uidOf(config)}, and no existing object was found`;
    throw conflict(definition, name, why);
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
      required("fieldManager", "is required for apply patch"),
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
