import type { ResourceDefinition } from "../api/definition.ts";
import { methodNotSupported, pathNotFound } from "../api/statuses.ts";
import type { FailNext } from "../kube-sim.ts";
import type { Answer } from "./answer.ts";
import { flagIn } from "./query.ts";
import { encoded } from "./render.ts";
import { definitionFor, type ResourceCall, type ResourceDeps } from "./resource-call.ts";
import { listCall, readObjectCall, watchCall } from "./resource-reads.ts";
import { createCall, deleteCall, deleteCollectionCall, patchCall, updateCall } from "./resource-writes.ts";
import { SUBRESOURCES } from "./subresources.ts";

type Verb = NonNullable<FailNext["verb"]>;
type Handler = (
  definition: ResourceDefinition,
  call: ResourceCall,
  deps: ResourceDeps,
) => Answer | Promise<Answer>;

interface Planned {
  readonly verb: Verb;
  readonly handle: Handler;
}

/** Answers a request about objects, or fails it as a test has asked. */
export async function handleResource(call: ResourceCall, deps: ResourceDeps): Promise<Answer> {
  const definition = definitionFor(call.route, deps);
  const { verb, handle } = plan(definition, call);
  const failure = deps.gate.failureFor({ verb, plural: definition.plural });
  if (failure === undefined) return handle(definition, call, deps);
  const { error, retryAfterSeconds } = failure;
  const answer = encoded({ encoding: "json", shape: "whole" }, error.status, { status: error.code });
  return { ...answer, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

function plan(definition: ResourceDefinition, call: ResourceCall): Planned {
  const { route, request } = call;
  const { method = "" } = request;
  const special = SUBRESOURCES.find(
    (one) => definition.group === "" && one.plural === route.plural && one.name === route.subresource,
  );
  if (special !== undefined) {
    if (special.method === method) return { verb: special.verb, handle: special.handle };
    throw methodNotSupported(definition, method.toLowerCase());
  }
  const isKnown = route.subresource === undefined || (route.subresource === "status" && definition.hasStatus);
  if (!isKnown) throw pathNotFound();
  const planned = route.name === undefined ? onCollection(method, call) : onObject(method);
  if (planned === undefined) throw methodNotSupported(definition, method.toLowerCase());
  return planned;
}

function onCollection(method: string, { query }: ResourceCall): Planned | undefined {
  switch (method) {
    case "GET":
      return flagIn(query, "watch")
        ? { verb: "watch", handle: watchCall }
        : { verb: "list", handle: listCall };
    case "POST":
      return { verb: "create", handle: createCall };
    case "DELETE":
      return { verb: "delete", handle: deleteCollectionCall };
    default:
      return undefined;
  }
}

function onObject(method: string): Planned | undefined {
  switch (method) {
    case "GET":
      return { verb: "get", handle: readObjectCall };
    case "PUT":
      return { verb: "update", handle: updateCall };
    case "PATCH":
      return { verb: "patch", handle: patchCall };
    case "DELETE":
      return { verb: "delete", handle: deleteCall };
    default:
      return undefined;
  }
}
