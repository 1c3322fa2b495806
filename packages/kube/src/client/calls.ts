import { Fault } from "@resource-broker/base";
import { isRecord } from "../config/entry.ts";
import type { HttpRequest } from "../http/exchange.ts";
import type { HttpClient } from "../http/http-client.ts";
import {
  collectionPath,
  type ObjectName,
  objectPath,
  type Resource,
  type Subresource,
} from "../resource/resource.ts";
import type { Target } from "../status/status-fault.ts";
import type { ApplyOptions, CallOptions, DeleteOptions, Patch, WriteOptions } from "./client.ts";
import { CALL_TIMEOUT_MS, isSuccess, JSON_TYPE, parseJsonBody, queryOf, refusalOf } from "./replies.ts";

const PATCH_TYPES: Readonly<Record<Patch["kind"], string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
};
/** JSON is YAML, too. */
const APPLY_TYPE = "application/apply-patch+yaml";

/** A call that is ready to be sent. */
export interface PlannedCall {
  readonly request: Omit<HttpRequest, "accept" | "timeoutMs" | "signal">;
  readonly target: Target;
}

type Server = Pick<Target, "server" | "origin">;

export function planGet(server: Server, resource: Resource<unknown>, name: ObjectName): PlannedCall {
  return {
    request: { method: "GET", path: objectPath(resource, name), isRepeatable: true },
    target: targetOf(server, resource, { verb: "get", ...name }),
  };
}

/** An object to be written, and how. */
export interface WriteCall<Options extends WriteOptions> {
  readonly resource: Resource<unknown>;
  readonly object: unknown;
  readonly options: Options;
}

export function planCreate(
  server: Server,
  { resource, object, options }: WriteCall<WriteOptions>,
): PlannedCall {
  if (resource.isQuestion === true) return planReview(server, resource, object);
  const { name, namespace } = newNameIn(resource, object);
  const { subresource } = options;
  if (subresource === "status") {
    throw new Fault("invalid", `the status of ${resource.kind} ${name} cannot be created: update it`);
  }
  // Builds the object's path first, because it validates name and namespace.
  const own = objectPath(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, subresource);
  const path = subresource === undefined ? collectionPath(resource, namespace) : own;
  return {
    request: {
      method: "POST",
      path: `${path}${writeQuery(options)}`,
      content: { type: JSON_TYPE, body: JSON.stringify(typed(resource, object)) },
      isRepeatable: false,
    },
    target: targetOf(server, resource, { verb: "create", name, namespace, subresource }),
  };
}

/** A review changes nothing, so it can be repeated. */
function planReview(server: Server, resource: Resource<unknown>, object: unknown): PlannedCall {
  return {
    request: {
      method: "POST",
      path: collectionPath(resource),
      content: { type: JSON_TYPE, body: JSON.stringify(typed(resource, object)) },
      isRepeatable: true,
    },
    target: targetOf(server, resource, { verb: "create" }),
  };
}

export function planUpdate(
  server: Server,
  { resource, object, options }: WriteCall<WriteOptions>,
): PlannedCall {
  const name = nameIn(resource, object);
  const { subresource } = options;
  return {
    request: {
      method: "PUT",
      path: `${objectPath(resource, name, subresource)}${writeQuery(options)}`,
      content: { type: JSON_TYPE, body: JSON.stringify(typed(resource, object)) },
      isRepeatable: true,
    },
    target: targetOf(server, resource, { verb: "update", ...name, subresource }),
  };
}

export function planApply(
  server: Server,
  { resource, object, options }: WriteCall<ApplyOptions>,
): PlannedCall {
  const name = nameIn(resource, object);
  const { subresource, force } = options;
  return {
    request: {
      method: "PATCH",
      path: `${objectPath(resource, name, subresource)}${writeQuery(options, force === true ? { force: "true" } : {})}`,
      content: { type: APPLY_TYPE, body: JSON.stringify(typed(resource, object)) },
      isRepeatable: true,
    },
    target: targetOf(server, resource, { verb: "patch", ...name, subresource }),
  };
}

export interface PatchCall {
  readonly resource: Resource<unknown>;
  readonly change: { readonly name: ObjectName; readonly patch: Patch };
  readonly options: WriteOptions;
}

export function planPatch(server: Server, { resource, change, options }: PatchCall): PlannedCall {
  const { name, patch } = change;
  const { subresource } = options;
  return {
    request: {
      method: "PATCH",
      path: `${objectPath(resource, name, subresource)}${writeQuery(options)}`,
      content: { type: PATCH_TYPES[patch.kind], body: JSON.stringify(patch.body) },
      // A JSON patch may not be idempotent.
      isRepeatable: patch.kind !== "json",
    },
    target: targetOf(server, resource, { verb: "patch", ...name, subresource }),
  };
}

export interface DeleteCall {
  readonly resource: Resource<unknown>;
  readonly name: ObjectName;
  readonly options: DeleteOptions;
}

export function planDelete(server: Server, { resource, name, options }: DeleteCall): PlannedCall {
  const { uid, resourceVersion, propagation, gracePeriodSeconds } = options;
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const body = {
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
  };
  return {
    request: {
      method: "DELETE",
      path: objectPath(resource, name),
      ...(Object.keys(body).length === 0 ? {} : { content: { type: JSON_TYPE, body: JSON.stringify(body) } }),
      isRepeatable: true,
    },
    target: targetOf(server, resource, { verb: "delete", ...name }),
  };
}

/** Sends a call and returns what the server says, or throws why it refuses. */
export async function perform(
  http: HttpClient,
  { request, target }: PlannedCall,
  { signal }: CallOptions,
): Promise<unknown> {
  const reply = await http.call({
    ...request,
    accept: JSON_TYPE,
    timeoutMs: CALL_TIMEOUT_MS,
    signal,
  });
  if (!isSuccess(reply)) throw refusalOf(reply, target);
  return parseJsonBody(reply.body);
}

function writeQuery(
  { fieldManager, dryRun }: WriteOptions,
  more: Readonly<Record<string, string>> = {},
): string {
  return queryOf({ fieldManager, dryRun: dryRun === true ? "All" : undefined, ...more });
}

interface CallTarget {
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
function nameIn(resource: Resource<unknown>, object: unknown): ObjectName {
  const { name, namespace } = metadataOf(object);
  if (typeof name !== "string") throw new Fault("invalid", `every ${resource.kind} needs a metadata.name`);
  return { name, ...(typeof namespace === "string" ? { namespace } : {}) };
}

/** What a new object calls itself; where it gives only the beginning (`generateName`), the server adds the rest. */
function newNameIn(resource: Resource<unknown>, object: unknown): ObjectName {
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
function typed(resource: Resource<unknown>, object: unknown): object {
  const { group, version, kind } = resource;
  const type = { apiVersion: group === "" ? version : `${group}/${version}`, kind };
  return { ...type, ...(isRecord(object) ? object : {}) };
}
