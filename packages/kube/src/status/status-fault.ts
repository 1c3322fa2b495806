import { Fault, type FaultCode, isRecord, parseJson, truncate } from "@resource-broker/base";
import { type ProtobufStatus, readStatus } from "../protobuf/status.ts";

type KubernetesStatus = ProtobufStatus;

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const MAX_TEXT_LENGTH = 500;

interface RefusalBody {
  /** Content-Type. */
  readonly type: string;
  readonly body: Uint8Array;
}

/** Reads the body of a refusal. Proxies and old servers send text or HTML instead: then the text is the message. */
export function statusOf({ type, body }: RefusalBody): KubernetesStatus {
  if (type.startsWith(PROTOBUF)) return protobufStatus(body);
  const text = Buffer.from(body).toString("utf8");
  return toStatus(parseJson(text)) ?? { message: type.includes("html") ? "" : oneLine(text) };
}

/** Undefined for what is no Status. */
export function toStatus(value: unknown): KubernetesStatus | undefined {
  if (!isRecord(value) || value["kind"] !== "Status") return undefined;
  const { message, reason, code, details } = value;
  return {
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof code === "number" ? { code } : {}),
    ...(isRecord(details) ? { details: toDetails(details) } : {}),
  };
}

type Details = NonNullable<KubernetesStatus["details"]>;

function toDetails({ causes }: Readonly<Record<string, unknown>>): Details {
  const list: readonly unknown[] = Array.isArray(causes) ? causes : [];
  return {
    causes: list.filter(isRecord).map(({ reason, message, field }) => ({
      ...(typeof reason === "string" ? { reason } : {}),
      ...(typeof message === "string" ? { message } : {}),
      ...(typeof field === "string" ? { field } : {}),
    })),
  };
}

function protobufStatus(body: Uint8Array): KubernetesStatus {
  try {
    return readStatus(body);
  } catch {
    return {};
  }
}

function oneLine(text: string): string {
  return truncate(text.replace(/\s+/gu, " ").trim(), MAX_TEXT_LENGTH);
}

interface MissingPermission extends Pick<Target, "verb" | "object"> {
  readonly user: string;
}

const USER = /\bUser "([^"]+)" cannot /u;
const RESOURCE =
  /cannot (\S+) resource "([^"]+)"(?: in API group "([^"]*)")?(?: in the namespace "([^"]+)")?/u;
const PATH = /cannot (\S+) path "([^"]+)"/u;

type Permission = Pick<Target, "verb" | "object">;

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

export interface Target {
  /** Where the API server is, and how we came to call it so. */
  readonly server: string;
  readonly origin: string;
  /** As in a Role: get, list, watch, create, update, patch, delete. */
  readonly verb: string;
  readonly object: TargetObject | TargetPath;
}

interface TargetObject {
  readonly group: string;
  /** With its subresource, as in a Role: `pods/status`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** A path that is no resource, such as /version. */
interface TargetPath {
  readonly path: string;
}

/** `update reservations/status rsv-1 (broker.fluidos.eu) in namespace default`. */
function describeTarget({ verb, object }: Pick<Target, "verb" | "object">): string {
  if ("path" in object) return `${verb} ${object.path}`;
  const { group, resource, namespace, name } = object;
  const what = name === undefined ? resource : `${resource} ${name}`;
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  return `${verb} ${what} (${group === "" ? "core group" : group})${where}`;
}

/**
 * Parses the message of the API server: it names the missing permission, which may differ from that of the call (an apply that
 * creates needs both). Undefined: not a missing permission, but an admission rule.
 */
function missingPermission(message: string, target: Target): MissingPermission | undefined {
  const user = USER.exec(message)?.[1];
  if (user === undefined) return undefined;
  return { user, ...(resourcePermission(message) ?? pathPermission(message) ?? target) };
}

function resourcePermission(message: string): Permission | undefined {
  const [, verb, resource, group = "", namespace] = RESOURCE.exec(message) ?? [];
  if (verb === undefined || resource === undefined) return undefined;
  return { verb, object: { group, resource, ...(namespace === undefined ? {} : { namespace }) } };
}

function pathPermission(message: string): Permission | undefined {
  const [, verb, path] = PATH.exec(message) ?? [];
  return verb === undefined || path === undefined ? undefined : { verb, object: { path } };
}

/** The missing permission, with the RBAC rule that would grant it. */
function describeMissingPermission(permission: MissingPermission): string {
  const { user, verb, object } = permission;
  const problem = `user ${user} may not ${describeTarget(permission)}`;
  if ("path" in object) {
    return `${problem}: add to a ClusterRole of theirs {nonResourceURLs: ["${object.path}"], verbs: ["${verb}"]}`;
  }
  const { group, resource, namespace } = object;
  const role =
    namespace === undefined ? "a ClusterRole" : `a ClusterRole, or a Role in namespace ${namespace},`;
  const rule = `{apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}`;
  return `${problem}: add to ${role} of theirs ${rule}`;
}
