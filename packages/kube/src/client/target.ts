import { Fault } from "@resource-broker/contract";
import { isRecord } from "../config/entry.ts";
import type { ObjectName, Resource, Subresource } from "../resource/resource.ts";
import type { Target } from "../status/target.ts";

export interface CallTarget {
  readonly verb: string;
  readonly name?: string;
  readonly namespace?: string | undefined;
  readonly subresource?: Subresource | undefined;
}

/** What a call on a resource is about, in the words of a Role. */
export function targetOf(
  { server, origin }: Pick<Target, "server" | "origin">,
  { group, plural }: Resource<unknown>,
  { verb, name, namespace, subresource }: CallTarget,
): Target {
  const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
  return {
    server,
    origin,
    verb,
    object: {
      group,
      resource,
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
    },
  };
}

/** What an object calls itself. */
export function nameIn(resource: Resource<unknown>, object: unknown): ObjectName {
  const { name, namespace } = metadataOf(object);
  if (typeof name !== "string") throw new Fault("invalid", `every ${resource.kind} needs a metadata.name`);
  return { name, ...(typeof namespace === "string" ? { namespace } : {}) };
}

/** What a new object calls itself; where it gives only the beginning (`generateName`), the server adds the rest. */
export function newNameIn(resource: Resource<unknown>, object: unknown): ObjectName {
  const { name, generateName, namespace } = metadataOf(object);
  const isChosen = name === undefined && typeof generateName === "string";
  return nameIn(resource, isChosen ? { metadata: { name: generateName, namespace } } : object);
}

function metadataOf(object: unknown): Readonly<Record<"name" | "generateName" | "namespace", unknown>> {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  const known = isRecord(metadata) ? metadata : {};
  return { name: known["name"], generateName: known["generateName"], namespace: known["namespace"] };
}

/** Adds apiVersion and kind: objects from lists of built-in kinds have none, but the server requires them on writes. */
export function typed(resource: Resource<unknown>, object: unknown): object {
  const { group, version, kind } = resource;
  const type = { apiVersion: group === "" ? version : `${group}/${version}`, kind };
  return { ...type, ...(isRecord(object) ? object : {}) };
}
