import type { CollectionTarget, DeleteOptions, WriteOptions } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { resourceOf } from "../api/registry.ts";
import { badRequest } from "../api/statuses.ts";
import { nameOf, textAt, textsAt, valueAt } from "../core/look.ts";
import type { JsonObject } from "../json.ts";
import type { Answer } from "./answer.ts";
import {
  checkNames,
  countIn,
  isDryRun,
  listQuery,
  patchOptions,
  propagationIn,
  propagationOf,
  writeOptions,
} from "./query.ts";
import { readObject, readOptionalObject, readPatch } from "./read-body.ts";
import { renderObject } from "./render.ts";
import {
  collectionTarget,
  needsNamespace,
  objectTarget,
  type ResourceCall,
  type ResourceDeps,
  renderingFor,
} from "./resource-call.ts";

type Handler = (definition: ResourceDefinition, call: ResourceCall, deps: ResourceDeps) => Promise<Answer>;

const userAgentOf = ({ request }: ResourceCall): string => request.headers["user-agent"] ?? "";

export const createCall: Handler = async (definition, call, deps) => {
  needsNamespace(definition, call.route, "create");
  checkNames(call.query, "write");
  const rendering = renderingFor(definition, call, deps);
  const options = writeOptions(call.query, userAgentOf(call));
  const body = await readObject(call.request);
  const target = collectionTarget(definition, call.route);
  const created = deps.api.create(target, body, options);
  const isRegistration =
    resourceOf(definition) === "nodes" && body["status"] !== undefined && !options.dryRun;
  const object = isRegistration
    ? registered(created.object, body, { target, options, deps })
    : created.object;
  return renderObject(rendering, object, { status: 201, warnings: created.warnings });
};

interface Registration {
  readonly target: CollectionTarget;
  readonly options: WriteOptions;
  readonly deps: ResourceDeps;
}

/** A kubelet registers its node with a status, which the server keeps: of nodes alone. */
function registered(node: JsonObject, body: JsonObject, { target, options, deps }: Registration): JsonObject {
  const place = { ...target, name: nameOf(node), subresource: "status" } as const;
  return deps.api.update(place, { ...node, status: body["status"] }, options).object;
}

export const updateCall: Handler = async (definition, call, deps) => {
  checkNames(call.query, "write");
  const rendering = renderingFor(definition, call, deps);
  const options = writeOptions(call.query, userAgentOf(call));
  const target = objectTarget(definition, call.route);
  const { object, isNew, warnings } = deps.api.update(target, await readObject(call.request), options);
  return renderObject(rendering, object, { status: isNew ? 201 : 200, warnings });
};

export const patchCall: Handler = async (definition, call, deps) => {
  checkNames(call.query, "patch");
  const rendering = renderingFor(definition, call, deps);
  const options = patchOptions(call.query, userAgentOf(call));
  const target = objectTarget(definition, call.route);
  const patch = await readPatch(call.request);
  if (patch.kind === "apply" && call.query.get("fieldManager") === null)
    throw badRequest(
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  const { object, isNew, warnings } = deps.api.patch(target, patch, options);
  return renderObject(rendering, object, { status: isNew ? 201 : 200, warnings });
};

export const deleteCall: Handler = async (definition, call, deps) => {
  checkNames(call.query, "delete");
  const rendering = renderingFor(definition, call, deps);
  const target = objectTarget(definition, call.route);
  if (target.subresource !== undefined) throw badRequest("a status cannot be deleted");
  const options = deleteOptions(call.query, await readOptionalObject(call.request));
  return renderObject(rendering, deps.api.delete(target, options), { status: 200 });
};

export const deleteCollectionCall: Handler = async (definition, call, deps) => {
  needsNamespace(definition, call.route, "deletecollection");
  checkNames(call.query, "delete-collection");
  const options = deleteOptions(call.query, await readOptionalObject(call.request));
  const target = collectionTarget(definition, call.route);
  const answer = deps.api.deleteCollection(target, listQuery(call.query), options);
  return renderObject({ ...renderingFor(definition, call, deps), format: PLAIN }, answer, { status: 200 });
};

const PLAIN = { encoding: "json", shape: "whole" } as const;

/** From the query, and from a DeleteOptions in the body, which wins. */
export function deleteOptions(query: URLSearchParams, body: JsonObject): DeleteOptions {
  const grace = graceIn(query, body);
  const propagation = textAt(body, "propagationPolicy");
  const uid = textAt(body, "preconditions.uid");
  const resourceVersion = textAt(body, "preconditions.resourceVersion");
  return {
    dryRun: isDryRun(query) || textsAt(body, "dryRun").includes("All"),
    propagation: propagation === "" ? (propagationIn(query) ?? "Background") : propagationOf(propagation),
    ...(uid === "" ? {} : { uid }),
    ...(resourceVersion === "" ? {} : { resourceVersion }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
  };
}

function graceIn(query: URLSearchParams, body: JsonObject): number | undefined {
  const seconds = valueAt(body, "gracePeriodSeconds");
  return typeof seconds === "number" ? seconds : countIn(query, "gracePeriodSeconds");
}
