import type { IncomingMessage } from "node:http";
import type { Clock } from "@resource-broker/base";
import type { ClusterApi, CollectionTarget, Target } from "../api/cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { methodNotSupported, pathNotFound } from "../api/statuses.ts";
import type { AccountTokens } from "./account-tokens.ts";
import type { Gate } from "./gate.ts";
import { negotiate } from "./negotiate.ts";
import { includeObjectIn } from "./query.ts";
import { protobufKind, type Rendering } from "./render.ts";
import type { User } from "./reviews.ts";
import type { ResourceRoute } from "./route.ts";

/** A request about objects. */
export interface ResourceCall {
  readonly request: IncomingMessage;
  readonly route: ResourceRoute;
  readonly query: URLSearchParams;
  readonly user: User;
}

export interface ResourceDeps {
  readonly api: ClusterApi;
  /** The cluster's own clock. */
  readonly clock: Clock;
  readonly gate: Gate;
  readonly tokens: AccountTokens;
}

/** The kind that an address names, if the address is right for it. */
export function definitionFor(route: ResourceRoute, { api }: Pick<ResourceDeps, "api">): ResourceDefinition {
  const { group, version, plural, namespace, name } = route;
  const definition = api
    .definitions()
    .find((one) => one.plural === plural && one.group === group && one.version === version);
  if (definition === undefined) throw pathNotFound();
  const isMisplaced = definition.isNamespaced
    ? namespace === undefined && name !== undefined
    : namespace !== undefined;
  if (isMisplaced) throw pathNotFound();
  return definition;
}

export function collectionTarget(
  definition: ResourceDefinition,
  { namespace }: ResourceRoute,
): CollectionTarget {
  return { definition, ...(namespace === undefined ? {} : { namespace }) };
}

/** One object, or its status. */
export function objectTarget(definition: ResourceDefinition, route: ResourceRoute): Target {
  const { name = "", subresource } = route;
  const target = { ...collectionTarget(definition, route), name };
  if (subresource === undefined) return target;
  if (subresource !== "status" || !definition.hasStatus) throw pathNotFound();
  return { ...target, subresource };
}

export function renderingFor(
  definition: ResourceDefinition,
  call: ResourceCall,
  deps: ResourceDeps,
): Rendering {
  return {
    definition,
    format: negotiate(call.request.headers.accept, { hasProtobuf: protobufKind(definition) !== undefined }),
    includeObject: includeObjectIn(call.query),
    nowMs: deps.clock.wallMs(),
  };
}

/** Objects of all namespaces can be listed, not created. */
export function needsNamespace(
  definition: ResourceDefinition,
  { namespace }: ResourceRoute,
  action: string,
): void {
  if (definition.isNamespaced && namespace === undefined) throw methodNotSupported(definition, action);
}
