import { type JsonObject, nameOf, namespaceOf, textOf, withMetadata } from "../json.ts";
import type { Cause, CollectionTarget, ResourceDefinition, Target, Write } from "./cluster-api.ts";
import { apiVersionOf } from "./registry.ts";
import { badRequest, invalid, undecodable } from "./statuses.ts";

/** The body is of the kind its path names; what it leaves out is filled in. */
export function asKind(definition: ResourceDefinition, object: JsonObject): JsonObject {
  const { kind, version } = definition;
  const apiVersion = apiVersionOf(definition);
  const given = { apiVersion: object["apiVersion"] ?? apiVersion, kind: object["kind"] ?? kind };
  if (given.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${textOf(given.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (given.kind !== kind) {
    throw badRequest(
      `${textOf(given.kind)} in version "${version}" cannot be handled as a ${kind}: converting (${version}.${textOf(given.kind)}) to (${internalGroup(definition)}.${kind}): unknown conversion`,
    );
  }
  return { ...object, apiVersion, kind };
}

function internalGroup({ group }: ResourceDefinition): string {
  return group.split(".")[0] || "core";
}

/** The body is in the namespace its path names; where it says none it gets that one. */
export function inNamespace({ definition, namespace }: CollectionTarget, object: JsonObject): JsonObject {
  const given = namespaceOf(object);
  if (!definition.isNamespaced) return given === "" ? object : withMetadata(object, { namespace: undefined });
  const wanted = namespace ?? "";
  if (wanted === "") throw badRequest("an empty namespace may not be set during creation");
  if (given === wanted) return object;
  if (given === "") return withMetadata(object, { namespace: wanted });
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** The body has the name its path says. */
export function checkName({ name }: Target, object: JsonObject): void {
  const given = nameOf(object);
  if (given === name) return;
  throw badRequest(
    given === ""
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${given}) does not match the name on the URL (${name})`,
  );
}

/** An object as a client of this version sees it: kinds of several versions share their objects. */
export function present(definition: ResourceDefinition, object: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(definition);
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}

/** Lets the kind judge a write; wrong metadata and wrong fields are told together. */
export function admitted(
  definition: ResourceDefinition,
  write: Write,
  metadataCauses: readonly Cause[],
): { readonly object: JsonObject; readonly warnings: readonly string[] } {
  const admission = definition.admit(write);
  if (!admission.ok && admission.code === 400) throw undecodable(definition, admission.causes);
  const causes = [...metadataCauses, ...(admission.ok ? [] : admission.causes)];
  if (!admission.ok || causes.length > 0) throw invalid(definition, nameOf(write.object), causes);
  return { object: admission.object, warnings: admission.warnings };
}
