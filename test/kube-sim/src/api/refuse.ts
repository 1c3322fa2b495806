import type { JsonObject } from "../json.ts";
import { StatusError } from "./status-error.ts";

/** What a refusal is about: `{ group: "", plural: "pods" }`. A definition is one. */
export interface About {
  readonly group: string;
  readonly plural: string;
}

/** What an Invalid refusal is about: a definition is one. */
export interface AboutKind {
  readonly group: string;
  readonly kind: string;
}

/** A cause as it stands in a Status; `Cause` is the closed list for fields. */
export interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

interface Refusal {
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
  readonly details?: JsonObject;
  readonly metadata?: JsonObject;
}

export function refuse({ code, reason, message, details, metadata }: Refusal): StatusError {
  return new StatusError(code, {
    kind: "Status",
    apiVersion: "v1",
    metadata: metadata ?? {},
    status: "Failure",
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  });
}

/** `pods`, `leases.coordination.k8s.io`. */
export function qualified(name: string, group: string): string {
  return group === "" ? name : `${name}.${group}`;
}

export function detailsOf(name: string, group: string, kind: string): JsonObject {
  return {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    ...(kind === "" ? {} : { kind }),
  };
}

export function causeOf({ reason, message, field }: StatusCause): JsonObject {
  return {
    ...(reason === undefined ? {} : { reason }),
    message,
    ...(field === undefined ? {} : { field }),
  };
}
