import type { IncomingHttpHeaders } from "node:http";
import type { Answer } from "../http/route.ts";
import type { Parameters } from "./lists/list-query.ts";
import type { Session } from "./session/sessions.ts";

/** One call under `/ui/`: who may make it, and what it does. */
export interface UiRoute {
  readonly method: "GET" | "POST" | "DELETE";
  /** With at most one parameter, as in `/ui/reservations/{id}/release`. */
  readonly path: string;
  readonly access: "anyone" | "viewer" | "admin";
  readonly handle: (call: UiCall) => Answer | Promise<Answer>;
}

export interface UiCall {
  /** Of a call that anyone may make: there may be none, or one that is not enough for others. */
  readonly session: Session | undefined;
  /** The session's token, where a cookie brought one. */
  readonly token: string | undefined;
  /** The name in the path, decoded; "" where there is none. */
  readonly name: string;
  readonly parameters: Parameters;
  readonly headers: IncomingHttpHeaders;
  /** The name the browser asked for. */
  readonly host: string;
  /** JSON; undefined: none was sent. */
  readonly body: unknown;
}

/** A call of somebody who is signed in. */
export function signedIn({ session }: UiCall): Session {
  if (session === undefined) throw new Error("a call without a session was authorized");
  return session;
}
