import type { WatchQuery } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { badRequest } from "../api/statuses.ts";
import type { Answer } from "./answer.ts";
import { checkNames, countIn, flagIn, listQuery, selectionIn } from "./query.ts";
import { renderList, renderObject } from "./render.ts";
import {
  collectionTarget,
  objectTarget,
  type ResourceCall,
  type ResourceDeps,
  renderingFor,
} from "./resource-call.ts";
import { watchEncoder } from "./watch-encoder.ts";
import { watchAnswer } from "./watch-stream.ts";

/** The real server ends watches after half an hour to an hour, so that they spread over its replicas. */
const DEFAULT_WATCH_SECONDS = 1800;

export function readObjectCall(
  definition: ResourceDefinition,
  call: ResourceCall,
  deps: ResourceDeps,
): Answer {
  checkNames(call.query, "get");
  const rendering = renderingFor(definition, call, deps);
  return renderObject(rendering, deps.api.get(objectTarget(definition, call.route)), { status: 200 });
}

export function listCall(definition: ResourceDefinition, call: ResourceCall, deps: ResourceDeps): Answer {
  checkNames(call.query, "list");
  const rendering = renderingFor(definition, call, deps);
  return renderList(
    rendering,
    deps.api.list(collectionTarget(definition, call.route), listQuery(call.query)),
  );
}

export function watchCall(definition: ResourceDefinition, call: ResourceCall, deps: ResourceDeps): Answer {
  const { query, route } = call;
  checkNames(query, "list");
  const { format, includeObject } = renderingFor(definition, call, deps);
  if (format.encoding === "yaml")
    throw badRequest("a watch cannot be answered in YAML; ask for application/json");
  const hasBookmarks = flagIn(query, "allowWatchBookmarks");
  const marksInitialEnd = flagIn(query, "sendInitialEvents");
  if (marksInitialEnd && !(hasBookmarks && query.get("resourceVersionMatch") === "NotOlderThan"))
    throw badRequest(
      "sendInitialEvents needs allowWatchBookmarks=true and resourceVersionMatch=NotOlderThan",
    );
  return watchAnswer(
    {
      target: collectionTarget(definition, route),
      query: watchQuery(query, marksInitialEnd),
      encoder: watchEncoder({ definition, format, includeObject, nowMs: deps.clock.wallMs }),
      hasBookmarks,
      marksInitialEnd,
      timeoutSeconds: countIn(query, "timeoutSeconds") ?? DEFAULT_WATCH_SECONDS,
    },
    deps,
  );
}

/** Without a version, or from "0", the objects that exist come first unless that is declined. */
function watchQuery(query: URLSearchParams, asksForInitial: boolean): WatchQuery {
  const resourceVersion = query.get("resourceVersion") ?? "";
  const isOpen = resourceVersion === "" || resourceVersion === "0";
  const declines = query.get("sendInitialEvents") === "false";
  return {
    ...selectionIn(query),
    resourceVersion,
    ...(asksForInitial || (isOpen && !declines) ? { sendInitialEvents: true } : {}),
  };
}
