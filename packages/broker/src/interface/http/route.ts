import type { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type Actor, MARKET_PROTOCOL } from "@resource-broker/domain";
import type { Query } from "./query.ts";
import { Fault } from "@resource-broker/base";

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

/** One call of the interface: who may make it, and what it does. */
export interface Route {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** With at most one parameter, as in `/api/v1/reservations/{id}/renew`. */
  readonly path: string;
  /** `anyone`: also without a certificate. `enrollment`: so too, on the API's own port, within limits of its own. */
  readonly access: "anyone" | "enrollment" | "cluster" | "admin";
  /** Absent: a body is not read. `isOptional`: the call works without one. */
  readonly body?: { readonly limit: number; readonly isOptional?: true };
  /** True for a POST that changes nothing: viewers may make it. */
  readonly isReadOnly?: true;
  /** True: refused first under overload. */
  readonly isSheddable?: true;
  readonly handle: (call: Call) => Answer | Promise<Answer>;
}

/** Somebody who is signed in to the dashboard. */
export interface Session {
  readonly role: "viewer" | "admin";
  readonly name: string;
  readonly by: "link" | "certificate";
  /** Counted against the limits of calls and streams. */
  readonly id: string;
  readonly leftMs: () => number;
}

/** An authorized request with a known caller and a JSON body. */
export interface Call {
  readonly caller: Actor;
  /** The name in the path, decoded; "" where there is none. */
  readonly name: string;
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  /** Undefined: none was sent, or the route reads none. */
  readonly body: unknown;
  /** Of the caller's machine. */
  readonly address: string;
  /** What the caller sent in Agent-Protocol; 1: nothing. */
  readonly protocol: number;
  /** True for agents that know only the first calls. */
  readonly isOlderAgent: boolean;
  /** True if the caller has closed the connection. */
  readonly isCallerGone: () => boolean;
  /** The caller's; undefined: the connection is gone. */
  readonly certificate: () => X509Certificate | undefined;
  /** Of a call on the dashboard's port by somebody who is signed in. */
  readonly session: Session | undefined;
}

/** To older agents waiting requests do not exist: they would take them for reservations without a provider. */
export function knowsOfWaiting({ caller, protocol }: Pick<Call, "caller" | "protocol">): boolean {
  return caller.isAdmin || protocol >= MARKET_PROTOCOL;
}

export type Answer = PlainAnswer | StreamAnswer;

export interface PlainAnswer {
  readonly status: number;
  /** Sent as JSON; a `text` is sent as it is. */
  readonly body?: unknown;
  readonly text?: { readonly type: string; readonly content: string };
  /** Names and values, one after the other. */
  readonly headers?: readonly string[];
}

/** Writes the response itself and ends it later. */
export interface StreamAnswer {
  readonly stream: (response: ServerResponse) => void;
}

export function ok(body: unknown): PlainAnswer {
  return { status: 200, body };
}

/** The pattern of an address that is made from a name: `/api/v1/decisions/{id}`. */
export function template(addressOf: (name: string) => string, parameter: string): string {
  return addressOf("{}").replace(encodeURIComponent("{}"), `{${parameter}}`);
}
