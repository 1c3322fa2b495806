import type { X509Certificate } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import type { Actor } from "@resource-broker/domain";
import type { Query } from "./query.ts";

/** One call of the interface: who may make it, and what it does. */
export interface Route {
  readonly method: "GET" | "HEAD" | "POST" | "DELETE";
  /** With at most one parameter, as in `/api/v1/reservations/{id}/renew`. */
  readonly path: string;
  /** `anyone`: also without a certificate. */
  readonly access: "anyone" | "cluster" | "admin";
  /** Absent: a body is not read. `isOptional`: the call works without one. */
  readonly body?: { readonly limit: number; readonly isOptional?: true };
  /** True: refused first under overload. */
  readonly isSheddable?: true;
  readonly handle: (call: Call) => Answer | Promise<Answer>;
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
  /** True for agents that know only the first calls. */
  readonly isOlderAgent: boolean;
  /** True if the caller has closed the connection. */
  readonly isCallerGone: () => boolean;
  /** The caller's; undefined: the connection is gone. */
  readonly certificate: () => X509Certificate | undefined;
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
