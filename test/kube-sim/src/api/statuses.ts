import type { JsonObject } from "../json.ts";
import type { Cause } from "./definition.ts";
import {
  type About,
  type AboutKind,
  causeOf,
  detailsOf,
  qualified,
  refuse,
  type StatusCause,
} from "./refuse.ts";
import type { StatusError } from "./status-error.ts";

/** The body of a successful delete of an object that is gone. */
export function success(about: About, name: string, uid: string): JsonObject {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { ...detailsOf(name, about.group, about.plural), uid },
  };
}

export function notFound(about: About, name: string): StatusError {
  return refuse({
    code: 404,
    reason: "NotFound",
    message: `${qualified(about.plural, about.group)} "${name}" not found`,
    details: detailsOf(name, about.group, about.plural),
  });
}

/** No such path: neither a kind nor an object can be named. */
export function pathNotFound(): StatusError {
  return refuse({
    code: 404,
    reason: "NotFound",
    message: "the server could not find the requested resource",
    details: {},
  });
}

export function alreadyExists(about: About, name: string, isTerminating = false): StatusError {
  return refuse({
    code: 409,
    reason: "AlreadyExists",
    message: `${isTerminating ? "object is being deleted: " : ""}${qualified(about.plural, about.group)} "${name}" already exists`,
    details: detailsOf(name, about.group, about.plural),
  });
}

/** Every name that was generated is taken. */
export function generatedNameTaken(about: About, name: string): StatusError {
  return refuse({
    code: 409,
    reason: "AlreadyExists",
    message: `${qualified(about.plural, about.group)} "${name}" already exists, the server was not able to generate a unique name for the object`,
    details: { ...detailsOf(name, about.group, about.plural), retryAfterSeconds: 1 },
  });
}

const MODIFIED_MEANWHILE =
  "the object has been modified; please apply your changes to the latest version and try again";

export function conflict(about: About, name: string, why: string = MODIFIED_MEANWHILE): StatusError {
  return refuse({
    code: 409,
    reason: "Conflict",
    message: `Operation cannot be fulfilled on ${qualified(about.plural, about.group)} "${name}": ${why}`,
    details: detailsOf(name, about.group, about.plural),
  });
}

/** Server-side apply met fields of other managers. */
export function applyConflict(message: string, causes: readonly StatusCause[]): StatusError {
  return refuse({ code: 409, reason: "Conflict", message, details: { causes: causes.map(causeOf) } });
}

/** 422: one cause for each wrong field; the message of a cause does not repeat its field. */
export function invalid(about: AboutKind, name: string, causes: readonly Cause[]): StatusError {
  const texts = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const [only] = texts;
  const text = texts.length === 1 && only !== undefined ? only : `[${texts.join(", ")}]`;
  return refuse({
    code: 422,
    reason: "Invalid",
    message: `${qualified(about.kind, about.group)} "${name}" is invalid: ${text}`,
    details: { ...detailsOf(name, about.group, about.kind), causes: causes.map(causeOf) },
  });
}

/** 422 for a patch that does not fit the object, such as one whose test fails: a real API server says no more either. */
export function unprocessable(): StatusError {
  return refuse({
    code: 422,
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
    details: {},
  });
}

export function badRequest(message: string): StatusError {
  return refuse({ code: 400, reason: "BadRequest", message });
}

export interface AboutVersion extends AboutKind {
  readonly version: string;
}

/** 400: a body that does not fit the kind; each cause says `unknown field "spec.x"` (under Strict) or what cannot be read. */
export function undecodable(about: AboutVersion, causes: readonly Cause[]): StatusError {
  const text = causes.map(({ message }) => message).join(", ");
  const isStrict = causes.every(({ message }) => /^(?:unknown|duplicate) field /u.test(message));
  return badRequest(
    `${about.kind} in version "${about.version}" cannot be handled as a ${about.kind}: ${isStrict ? "strict decoding error: " : ""}${text}`,
  );
}

export function forbidden(about: About, name: string, why: string): StatusError {
  return forbiddenFor(about, name, { why });
}

/** Nothing new comes into a namespace that goes. */
export function namespaceTerminating(about: About, name: string, namespace: string): StatusError {
  return forbiddenFor(about, name, {
    why: `unable to create new content in namespace ${namespace} because it is being terminated`,
    causes: [
      {
        reason: "NamespaceTerminating",
        message: `namespace ${namespace} is being terminated`,
        field: "metadata.namespace",
      },
    ],
  });
}

function forbiddenFor(
  about: About,
  name: string,
  { why, causes }: { readonly why: string; readonly causes?: readonly StatusCause[] },
): StatusError {
  const subject = qualified(about.plural, about.group);
  return refuse({
    code: 403,
    reason: "Forbidden",
    message: `${name === "" ? subject : `${subject} "${name}"`} is forbidden: ${why}`,
    details: {
      ...detailsOf(name, about.group, about.plural),
      ...(causes === undefined ? {} : { causes: causes.map(causeOf) }),
    },
  });
}

export function unauthorized(): StatusError {
  return refuse({ code: 401, reason: "Unauthorized", message: "Unauthorized" });
}

/** 410: the version asked for is forgotten. `resume` is the continue token that reads on at the newest version. */
export function expired(message: string, resume?: string): StatusError {
  return refuse({
    code: 410,
    reason: "Expired",
    message,
    ...(resume === undefined ? {} : { metadata: { continue: resume } }),
  });
}

/** 410 for a watch that lags. */
export function tooOldVersion(asked: number, oldest: number): StatusError {
  return expired(`too old resource version: ${asked} (${oldest})`);
}

/** 504: the version asked for does not exist yet. */
export function tooLargeVersion(asked: number, current: number): StatusError {
  return refuse({
    code: 504,
    reason: "Timeout",
    message: `Too large resource version: ${asked}, current: ${current}`,
    details: {
      causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
      retryAfterSeconds: 1,
    },
  });
}

/** 405: `create is not supported on resources of kind "pods"`. */
export function methodNotSupported(about: About, action: string): StatusError {
  return refuse({
    code: 405,
    reason: "MethodNotAllowed",
    message: `${action} is not supported on resources of kind "${qualified(about.plural, about.group)}"`,
    details: detailsOf("", about.group, about.plural),
  });
}

/** 405: nothing new of a kind whose CustomResourceDefinition goes. */
export function kindTerminating(about: About): StatusError {
  return refuse({
    code: 405,
    reason: "MethodNotAllowed",
    message: "create not allowed while custom resource definition is terminating",
    details: detailsOf("", about.group, about.plural),
  });
}

/** 500 without a reason: so the storage of a real API server answers. */
export function versionSetOnCreate(): StatusError {
  return refuse({ code: 500, message: "resourceVersion should not be set on objects to be created" });
}

/** 413: a patch of too many operations. */
export function tooManyOperations(most: number, got: number): StatusError {
  return refuse({
    code: 413,
    reason: "RequestEntityTooLarge",
    message: `Request entity too large: The allowed maximum operations in a JSON patch is ${most}, got ${got}`,
  });
}

/** 415: the body's type. */
export function unsupportedMedia(accepted: readonly string[]): StatusError {
  return refuse({
    code: 415,
    reason: "UnsupportedMediaType",
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`,
  });
}

/** 406: the type asked for. */
export function notAcceptable(offered: readonly string[]): StatusError {
  return refuse({
    code: 406,
    reason: "NotAcceptable",
    message: `only the following media types are accepted: ${offered.join(", ")}`,
  });
}

export function internalError(message: string): StatusError {
  return refuse({
    code: 500,
    reason: "InternalError",
    message: `Internal error occurred: ${message}`,
    details: { causes: [{ message }] },
  });
}

/** 501: a real API server can do this, the simulated one cannot; `message` says what. */
export function notImplemented(message: string): StatusError {
  return refuse({ code: 501, reason: "NotImplemented", message });
}

/** A status with no wording of its own here, such as one that a test asks for. */
export function failure(code: number, reason: string, message: string): StatusError {
  return refuse({ code, reason, message });
}
