import type { ClusterApi } from "../api/cluster-api.ts";
import { pathNotFound } from "../api/statuses.ts";
import type { JsonObject } from "../json.ts";
import { openapiDocument, openapiIndex } from "../openapi/document.ts";
import type { Answer } from "./answer.ts";
import { coreVersions, groupList, groupOf, resourceList } from "./discovery.ts";
import { encoded } from "./render.ts";
import type { ResourceRoute, Route } from "./route.ts";
import { SERVER_VERSION } from "./server-version.ts";

type StaticRoute = Exclude<Route, ResourceRoute>;

const PLAIN = { encoding: "json", shape: "whole" } as const;

/** Everything that is not about objects: which kinds there are, what they look like, and how the server is. */
export function staticAnswer(
  route: StaticRoute,
  { api, address }: { api: ClusterApi; address: string },
): Answer {
  if (route.kind === "health") return { kind: "whole", status: 200, contentType: "text/plain", body: "ok" };
  const body = staticBody(route, api, address);
  if (body === undefined) throw pathNotFound();
  return encoded(PLAIN, body, { status: 200 });
}

function staticBody(
  route: Exclude<StaticRoute, { readonly kind: "health" }>,
  api: ClusterApi,
  address: string,
): JsonObject | undefined {
  switch (route.kind) {
    case "version":
      return SERVER_VERSION;
    case "core-versions":
      return coreVersions(address);
    case "groups":
      return groupList(api.definitions());
    case "group":
      return groupOf(api.definitions(), route.group);
    case "resources":
      return resourceList(api.definitions(), route);
    case "openapi-index":
      return openapiIndex(api.definitions());
    case "openapi":
      return openapiDocument(api.definitions(), route);
    // kubectl does without the older description when there is none.
    case "openapi-v2":
    case "unknown":
    default:
      return undefined;
  }
}
