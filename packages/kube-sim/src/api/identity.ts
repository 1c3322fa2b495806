import type { JsonObject } from "../json.ts";
import { nameOf, namespaceOf, textOf, withMetadata } from "../json-access.ts";
import type { CollectionTarget, Target } from "./cluster-api.ts";
import type { ResourceDefinition } from "./definition.ts";
import { apiVersionOf } from "./registry.ts";
import { badRequest } from "./statuses.ts";

/** The body is of the kind its path names; what it leaves out is filled in. */
export function asKind(definition: ResourceDefinition, object: JsonObject): JsonObject {
  const { kind, version } = definition;
  const apiVersion = apiVersionOf(definition);
  const said = { apiVersion: object["apiVersion"] ?? apiVersion, kind: object["kind"] ?? kind };
  if (said.apiVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${textOf(said.apiVersion)}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (said.kind !== kind) {
    throw badRequest(
      `${textOf(said.kind)} in version "${version}" cannot be handled as a ${kind}: converting (${version}.${textOf(said.kind)}) to (${internalGroup(definition)}.${kind}): unknown conversion`,
    );
  }
  return { ...object, apiVersion, kind };
}

function internalGroup({ group }: ResourceDefinition): string {
  return group.split(".")[0] || "core";
}

/** The body is in the namespace its path names; where it says none it gets that one. */
export function inNamespace({ definition, namespace }: CollectionTarget, object: JsonObject): JsonObject {
  const said = namespaceOf(object);
  if (!definition.isNamespaced) return said === "" ? object : withMetadata(object, { namespace: undefined });
  const wanted = namespace ?? "";
  if (wanted === "") throw badRequest("an empty namespace may not be set during creation");
  if (said === wanted) return object;
  if (said === "") return withMetadata(object, { namespace: wanted });
  throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
}

/** The body has the name its path says. */
export function checkName({ name }: Target, object: JsonObject): void {
  const said = nameOf(object);
  if (said === name) return;
  throw badRequest(
    said === ""
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${said}) does not match the name on the URL (${name})`,
  );
}

/** An object as a client of this version sees it: kinds of several versions share their objects. */
export function present(definition: ResourceDefinition, object: JsonObject): JsonObject {
  const apiVersion = apiVersionOf(definition);
  return object["apiVersion"] === apiVersion ? object : { ...object, apiVersion };
}
