import type { JsonObject } from "../json.ts";
import type { Cause } from "./cluster-api.ts";

/** A refusal as Kubernetes words it; `status` is the body of the reply. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly status: JsonObject;
  readonly code: number;

  constructor(code: number, status: JsonObject) {
    const message = status["message"];
    super(typeof message === "string" ? message : "");
    this.code = code;
    this.status = status;
  }
}

/** What a refusal is about: `{ group: "", plural: "pods" }`. A definition is one. */
interface About {
  readonly group: string;
  readonly plural: string;
}

interface AboutKind {
  readonly group: string;
  readonly kind: string;
}

/** A cause as it stands in a Status; `Cause` is the closed list for fields. */
interface StatusCause {
  readonly reason?: string;
  readonly message: string;
  readonly field?: string;
}

/** A status with no wording of its own here, such as one that a test asks for. `reason` "": it has none. */
export function failure(code: number, reason: string, message: string): StatusError {
  return refuse([code, reason], message);
}

function refuse(
  [code, reason]: readonly [code: number, reason: string],
  message: string,
  more: JsonObject = {},
): StatusError {
  return new StatusError(code, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...more,
    code,
  });
}

/** `pods`, `leases.coordination.k8s.io`. */
function qualified({ plural, group }: About): string {
  return group === "" ? plural : `${plural}.${group}`;
}

/** `pods "web"`. */
function named(about: About, name: string): string {
  return name === "" ? qualified(about) : `${qualified(about)} "${name}"`;
}

function detailsOf({ group, plural: kind }: About, name: string): JsonObject {
  return { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind };
}

function causesOf(causes: readonly StatusCause[]): readonly JsonObject[] {
  return causes.map((cause) => ({ ...cause }));
}

/** The body of a successful delete of an object that is gone. */
export function success(about: About, name: string, uid: string): JsonObject {
  const details = { ...detailsOf(about, name), uid };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

export function notFound(about: About, name: string): StatusError {
  return refuse([404, "NotFound"], `${named(about, name)} not found`, { details: detailsOf(about, name) });
}

/** No such path: neither a kind nor an object can be named. */
export function pathNotFound(): StatusError {
  return refuse([404, "NotFound"], "the server could not find the requested resource", { details: {} });
}

export function alreadyExists(about: About, name: string, isTerminating = false): StatusError {
  const prefix = isTerminating ? "object is being deleted: " : "";
  const details = detailsOf(about, name);
  return refuse([409, "AlreadyExists"], `${prefix}${named(about, name)} already exists`, { details });
}

const MODIFIED_MEANWHILE =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(about: About, name: string, why: string = MODIFIED_MEANWHILE): StatusError {
  const message = `Operation cannot be fulfilled on ${named(about, name)}: ${why}`;
  return refuse([409, "Conflict"], message, { details: detailsOf(about, name) });
}

/** Server-side apply met fields of other managers. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return refuse([409, "Conflict"], message, { details: { causes: causesOf(causes) } });
}

/** 422: one cause for each wrong field; the message of a cause does not repeat its field. */
export function invalid({ group, kind }: AboutKind, name: string, causes: readonly Cause[]): StatusError {
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const text = texts.length === 1 ? texts.join("") : `[${texts.join(", ")}]`;
  const about = { group, plural: kind };
  return refuse([422, "Invalid"], `${qualified(about)} "${name}" is invalid: ${text}`, {
    details: { ...detailsOf(about, name), causes: causesOf(causes) },
  });
}

/** 422 for a patch that does not fit the object, such as one whose test fails: a real API server says no more either. */
export function unprocessable(): StatusError {
  const message = "the server rejected our request due to an error in our request";
  return refuse([422, "Invalid"], message, { details: {} });
}

export function badRequest(message: string): StatusError {
  return refuse([400, "BadRequest"], message);
}

/** 400: a body that does not fit the kind; each cause says `unknown field "spec.x"` (under Strict) or what cannot be read. */
export function undecodable(
  { kind, version }: { readonly kind: string; readonly version: string },
  causes: readonly Cause[],
): StatusError {
  const text = causes.map(({ message }) => message).join(", ");
  const isStrict = causes.every(({ message }) => message.startsWith("unknown field "));
  const prefix = isStrict ? "strict decoding error: " : "";
  return badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${prefix}${text}`);
}

export function forbidden(about: About, name: string, why: string): StatusError {
  return refuse([403, "Forbidden"], `${named(about, name)} is forbidden: ${why}`, {
    details: detailsOf(about, name),
  });
}

/** Nothing new comes into a namespace that goes. */
export function namespaceTerminating(about: About, name: string, namespace: string): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  const causes = [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }];
  return refuse([403, "Forbidden"], `${named(about, name)} is forbidden: ${why}`, {
    details: { ...detailsOf(about, name), causes },
  });
}

export function unauthorized(): StatusError {
  return refuse([401, "Unauthorized"], "Unauthorized");
}

/** 410: the version asked for is forgotten. `resume` is the continue token that reads on at the newest version. */
export function expired(message: string, resume?: string): StatusError {
  return refuse([410, "Expired"], message, resume === undefined ? {} : { metadata: { continue: resume } });
}

/** 504: the version asked for does not exist yet. */
export function tooLargeVersion(asked: number, current: number): StatusError {
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return refuse([504, "Timeout"], `Too large resource version: ${asked}, current: ${current}`, {
    details: { causes, retryAfterSeconds: 1 },
  });
}

/** 405: `create is not supported on resources of kind "pods"`. */
export function methodNotSupported(about: About, action: string): StatusError {
  const message = `${action} is not supported on resources of kind "${qualified(about)}"`;
  return refuse([405, "MethodNotAllowed"], message, { details: detailsOf(about, "") });
}

/** 415: the body's type. */
export function unsupportedMedia(accepted: readonly string[]): StatusError {
  const types = accepted.join(", ");
  const message = `the body of the request was in an unknown format - accepted media types include: ${types}`;
  return refuse([415, "UnsupportedMediaType"], message);
}

/** 406: the type asked for. */
export function notAcceptable(offered: readonly string[]): StatusError {
  const message = `only the following media types are accepted: ${offered.join(", ")}`;
  return refuse([406, "NotAcceptable"], message);
}

export function internalError(message: string): StatusError {
  return refuse([500, "InternalError"], `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  });
}
