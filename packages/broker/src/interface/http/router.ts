import { Fault } from "@resource-broker/base";
import type { Route } from "./route.ts";

/** What a router needs to know of a route. */
type Routed = Pick<Route, "method" | "path">;

export type Match<R extends Routed = Route> =
  | { readonly kind: "found"; readonly route: R; readonly name: string }
  | { readonly kind: "wrong-method"; readonly allow: string }
  | { readonly kind: "unknown" };

export interface Router<R extends Routed = Route> {
  readonly routes: readonly R[];
  readonly match: (method: string, path: string) => Match<R>;
}

const UNKNOWN = { kind: "unknown" } as const;
const PARAMETER = /\{[^}]+\}/;

/** Finds the route of a request: a look-up for plain paths, a few comparisons for those with a name in them. */
export function createRouter<R extends Routed>(routes: readonly R[]): Router<R> {
  const byPattern = new Map<string, Map<string, R>>();
  const prefixes = new Set<string>();
  for (const route of routes) {
    const pattern = route.path.replace(PARAMETER, "{}");
    const methods = byPattern.get(pattern) ?? new Map<string, R>();
    byPattern.set(pattern, methods.set(route.method, route));
    const start = pattern.indexOf("{}");
    if (start !== -1) prefixes.add(pattern.slice(0, start));
  }

  const match = (method: string, path: string): Match<R> => {
    const plain = byPattern.get(path);
    if (plain !== undefined) return choose(plain, method, "");
    for (const prefix of prefixes) {
      if (!path.startsWith(prefix)) continue;
      const slash = path.indexOf("/", prefix.length);
      const end = slash === -1 ? path.length : slash;
      const methods = byPattern.get(`${prefix}{}${path.slice(end)}`);
      const hasName = end > prefix.length;
      if (methods !== undefined && hasName)
        return choose(methods, method, decoded(path.slice(prefix.length, end)));
    }
    return UNKNOWN;
  };
  return { routes, match };
}

function choose<R extends Routed>(methods: ReadonlyMap<string, R>, method: string, name: string): Match<R> {
  const route = methods.get(method);
  if (route !== undefined) return { kind: "found", route, name };
  return { kind: "wrong-method", allow: [...methods.keys()].join(", ") };
}

function decoded(part: string): string {
  if (!part.includes("%")) return part;
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new Fault("malformed", `the address holds ${part}, which is not valid percent-encoding`, { cause });
  }
}
