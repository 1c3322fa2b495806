import { Fault, type FaultCode } from "@resource-broker/contract";
import { describeMissingPermission, missingPermission } from "./missing-right.ts";
import type { KubernetesStatus } from "./status.ts";
import { describeTarget, type Target } from "./target.ts";

export interface Refusal {
  /** HTTP status of the reply; in a watch the refusal is inside a successful reply. */
  readonly httpStatus?: number;
  readonly status: KubernetesStatus;
  /** From the Retry-After header. */
  readonly retryAfterMs?: number;
}

/** The reason is more specific than the status code: 409 has two meanings, and 410 two names. */
const CODE_BY_REASON: Readonly<Record<string, FaultCode>> = {
  AlreadyExists: "already-exists",
  Conflict: "conflict",
  Expired: "gone",
  Gone: "gone",
  NotFound: "not-found",
  Forbidden: "forbidden",
  Unauthorized: "unauthenticated",
  Invalid: "invalid",
  BadRequest: "invalid",
  MethodNotAllowed: "method-not-allowed",
  NotAcceptable: "unsupported-media",
  UnsupportedMediaType: "unsupported-media",
  RequestEntityTooLarge: "too-large",
  TooManyRequests: "rate-limited",
  ServerTimeout: "overloaded",
  Timeout: "overloaded",
  ServiceUnavailable: "overloaded",
};

const CODE_BY_STATUS: Readonly<Record<number, FaultCode>> = {
  400: "invalid",
  401: "unauthenticated",
  403: "forbidden",
  404: "not-found",
  405: "method-not-allowed",
  406: "unsupported-media",
  408: "overloaded",
  409: "conflict",
  410: "gone",
  413: "too-large",
  415: "unsupported-media",
  422: "invalid",
  429: "rate-limited",
  502: "unreachable",
  503: "overloaded",
  504: "unreachable",
};

const MAX_CAUSES = 10;

/** Converts a refusal of the API server to a fault; the message names the call and a remedy. */
export function statusFault(refusal: Refusal, target: Target): Fault {
  const code = codeOf(refusal);
  const { retryAfterMs } = refusal;
  const details = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new Fault(code, messageOf(code, refusal, target), { details });
}

function codeOf({ httpStatus, status }: Refusal): FaultCode {
  const byReason = CODE_BY_REASON[status.reason ?? ""];
  if (byReason !== undefined) return byReason;
  const number = status.code ?? httpStatus ?? 0;
  // A server error may be temporary: retry.
  return CODE_BY_STATUS[number] ?? (number >= 500 ? "overloaded" : "internal");
}

function messageOf(code: FaultCode, { httpStatus, status }: Refusal, target: Target): string {
  const number = status.code ?? httpStatus;
  const serverMessage =
    status.message || (number === undefined ? "no reason given" : `HTTP ${number}, no reason given`);
  switch (code) {
    case "forbidden":
      return forbidden(serverMessage, target);
    case "unauthenticated":
      return `${target.server} refused the credentials (401, ${serverMessage}): renew the token or certificate of ${target.origin}`;
    case "invalid":
      return `${describeTarget(target)} is refused: ${serverMessage}${causesOf(status, serverMessage)}`;
    default:
      return `${describeTarget(target)}: ${serverMessage}`;
  }
}

/** Either an RBAC permission is missing, or an admission rule refused the request. */
function forbidden(serverMessage: string, target: Target): string {
  const permission = missingPermission(serverMessage, target);
  if (permission === undefined) return `${describeTarget(target)} is forbidden: ${serverMessage}`;
  return describeMissingPermission(permission);
}

/** The causes that the message does not name itself. */
function causesOf({ details }: KubernetesStatus, serverMessage: string): string {
  const causes = (details?.causes ?? [])
    .filter(({ message = "" }) => message !== "" && !serverMessage.includes(message))
    .map(({ field, message = "" }) => (field === undefined ? message : `${field}: ${message}`));
  if (causes.length === 0) return "";
  const rest = causes.length > MAX_CAUSES ? "; …" : "";
  return ` (${causes.slice(0, MAX_CAUSES).join("; ")}${rest})`;
}
