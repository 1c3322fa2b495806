import type { WireFaultCode } from "@resource-broker/base";
import type { SchemaNode } from "../../src/schema/node.ts";
import type { PARAMETERS, RESPONSE_HEADERS } from "./parameters.ts";

/** One call of the HTTP interface, as the document describes it. */
export interface Route {
  /** Method and path. */
  readonly call: `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;
  readonly operationId: string;
  readonly tag:
    | "Advertisements"
    | "Reservations"
    | "Instructions"
    | "Decisions"
    | "Joining"
    | "Peering"
    | "Administration"
    | "Insight"
    | "Health";
  readonly summary: string;
  /** Who may call it, and what is worth knowing. */
  readonly description: string;
  readonly parameters?: readonly ParameterName[];
  readonly body?: Body;
  /** False: the call works with an empty body as well. */
  readonly isBodyOptional?: boolean;
  readonly reply: Reply;
  /** The other ways it can go well. */
  readonly otherReplies?: readonly Reply[];
  /** Faults of this call beside those that every call can meet. */
  readonly faults?: readonly WireFaultCode[];
  /** Answers without a client certificate. */
  readonly isPublic?: boolean;
}

export interface Body {
  readonly schema: SchemaNode;
  /** The other thing that it may be. */
  readonly otherSchema?: SchemaNode;
  readonly example: unknown;
}

export interface Reply {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  readonly body?: Body;
  /** A body that is not JSON. */
  readonly mediaType?: "text/plain" | "text/event-stream";
  readonly textExample?: string;
  readonly headers?: readonly HeaderName[];
}

export type ParameterName = keyof typeof PARAMETERS;
export type HeaderName = keyof typeof RESPONSE_HEADERS;

export function ok(description: string, body: Body): Reply {
  return { status: 200, description, body };
}

export function created(description: string, body: Body): Reply {
  return { status: 201, description, body };
}

export function methodAndPath({ call }: Route): readonly [method: string, path: string] {
  const [method = "", path = ""] = call.split(" ");
  return [method, path];
}
