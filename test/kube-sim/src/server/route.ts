/** What an address asks for; whether it exists is another matter. */
export type Route =
  | {
      readonly kind:
        | "version"
        | "health"
        | "core-versions"
        | "groups"
        | "openapi-index"
        | "openapi-v2"
        | "unknown";
    }
  | { readonly kind: "group"; readonly group: string }
  | { readonly kind: "resources"; readonly group: string; readonly version: string }
  | { readonly kind: "openapi"; readonly group: string; readonly version: string }
  | ResourceRoute;

export interface ResourceRoute {
  readonly kind: "resource";
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

const UNKNOWN: Route = { kind: "unknown" };
const HEALTH: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

export function routeOf(path: string): Route {
  const parts = segments(path);
  if (parts === undefined) return UNKNOWN;
  const [first = "", ...rest] = parts;
  if (first === "api") return coreRoute(rest);
  if (first === "apis") return groupRoute(rest);
  if (first === "openapi") return openapiRoute(rest);
  if (first === "version") return rest.length === 0 ? { kind: "version" } : UNKNOWN;
  return HEALTH.has(first) ? { kind: "health" } : UNKNOWN;
}

/** A slash at the end means nothing; two in a row, or a broken escape, cannot be meant. */
function segments(path: string): readonly string[] | undefined {
  try {
    const parts = path
      .replace(/^\//u, "")
      .replace(/\/$/u, "")
      .split("/")
      .map((part) => decodeURIComponent(part));
    return parts.includes("") ? undefined : parts;
  } catch {
    return undefined;
  }
}

function coreRoute([version, ...rest]: readonly string[]): Route {
  if (version === undefined) return { kind: "core-versions" };
  return rest.length === 0
    ? { kind: "resources", group: "", version }
    : resourceRoute({ group: "", version }, rest);
}

function groupRoute([group, version, ...rest]: readonly string[]): Route {
  if (group === undefined) return { kind: "groups" };
  if (version === undefined) return { kind: "group", group };
  return rest.length === 0 ? { kind: "resources", group, version } : resourceRoute({ group, version }, rest);
}

function openapiRoute([version, ...rest]: readonly string[]): Route {
  if (version === "v2") return { kind: "openapi-v2" };
  if (version !== "v3") return UNKNOWN;
  if (rest.length === 0) return { kind: "openapi-index" };
  const [root, ...groupVersion] = rest;
  const [group, served, ...more] = root === "api" ? ["", ...groupVersion] : groupVersion;
  const isWhole = (root === "api" || root === "apis") && more.length === 0;
  return isWhole && group !== undefined && served !== undefined
    ? { kind: "openapi", group, version: served }
    : UNKNOWN;
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Of a namespace itself; anything else after its name is a kind of object in it. */
const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);

function resourceRoute(groupVersion: GroupVersion, parts: readonly string[]): Route {
  const isInside = isInsideNamespace(parts);
  const [plural = "", name, subresource, ...more] = isInside ? parts.slice(2) : parts;
  if (more.length > 0) return UNKNOWN;
  const namespace = isInside ? parts[1] : undefined;
  return {
    kind: "resource",
    ...groupVersion,
    plural,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

function isInsideNamespace(parts: readonly string[]): boolean {
  const [first, , third = ""] = parts;
  if (first !== "namespaces" || parts.length < 3) return false;
  return parts.length > 3 || !NAMESPACE_SUBRESOURCES.has(third);
}
