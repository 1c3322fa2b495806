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

export interface StaticDeps {
  readonly api: ClusterApi;
  readonly address: string;
  readonly accept: string;
}

/** Everything that is not about objects: which kinds there are, what they look like, and how the server is. */
export function staticAnswer(route: StaticRoute, { api, address, accept }: StaticDeps): Answer {
  if (route.kind === "health") return { kind: "whole", status: 200, contentType: "text/plain", body: "ok" };
  if (route.kind === "openapi-v2") return openapiV2(accept);
  const body = staticBody(route, api, address);
  if (body === undefined) throw pathNotFound();
  return encoded(PLAIN, body, { status: 200 });
}

function staticBody(route: StaticRoute, api: ClusterApi, address: string): JsonObject | undefined {
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
    default:
      return undefined;
  }
}

const OPENAPI_V2_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
/** The type that is asked for is no media type that Go can read. */
const OPENAPI_V2_ANSWERED = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
/** A document whose only field is its first, the version "2.0". */
const EMPTY_OPENAPI_V2_PROTOBUF = Uint8Array.from([0x0a, 3, 0x32, 0x2e, 0x30]);
const EMPTY_OPENAPI_V2: JsonObject = {
  swagger: "2.0",
  info: { title: "kube-sim", version: "v1" },
  paths: {},
};

/** kubectl asks for the older description now and then and wants one; what it looks for is in the newer. */
function openapiV2(accept: string): Answer {
  if (!accept.includes(OPENAPI_V2_ASKED)) return encoded(PLAIN, EMPTY_OPENAPI_V2, { status: 200 });
  return { kind: "whole", status: 200, contentType: OPENAPI_V2_ANSWERED, body: EMPTY_OPENAPI_V2_PROTOBUF };
}
