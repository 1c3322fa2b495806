import type { IncomingMessage } from "node:http";
import { parse as parseYaml } from "yaml";
import type { PatchBody } from "../api/cluster-api.ts";
import { badRequest, failure, unsupportedMedia } from "../api/statuses.ts";
import { isList, isObject } from "../core/look.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { isJson } from "../json-value.ts";
import { decodeBody } from "./protobuf-body/decode-body.ts";

/** As much as the real server takes. */
const LIMIT_BYTES = 3 * 1024 * 1024;
/** A client hears an answer only after it has sent its body: so much of one that is too large is read and thrown away. */
const GIVE_UP_BYTES = 10 * LIMIT_BYTES;

const OBJECT_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
const PATCH_TYPES = {
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/json-patch+json": "json",
  "application/apply-patch+yaml": "apply",
} as const;

export async function readObject(request: IncomingMessage): Promise<JsonObject> {
  const value = await readValue(request);
  if (isObject(value)) return value;
  throw badRequest("the body of the request must be an object");
}

/** The body of a DELETE may be left out. */
export async function readOptionalObject(request: IncomingMessage): Promise<JsonObject> {
  const { headers } = request;
  const isEmpty = headers["content-length"] === "0" || headers["content-length"] === undefined;
  if (isEmpty && headers["transfer-encoding"] === undefined) return {};
  return readObject(request);
}

export async function readPatch(request: IncomingMessage): Promise<PatchBody> {
  const type = mediaType(request);
  const kind = isPatchType(type) ? PATCH_TYPES[type] : undefined;
  if (kind === undefined) throw unsupportedMedia(Object.keys(PATCH_TYPES));
  const text = await readText(request);
  const body = kind === "apply" ? fromYamlOrJson(text) : fromJson(text);
  if (kind === "json") {
    if (isList(body)) return { kind, body };
    throw badRequest("a JSON patch must be a list of operations");
  }
  if (isObject(body)) return { kind, body };
  throw badRequest("the patch must be an object");
}

function isPatchType(type: string): type is keyof typeof PATCH_TYPES {
  return Object.hasOwn(PATCH_TYPES, type);
}

async function readValue(request: IncomingMessage): Promise<JsonValue> {
  switch (mediaType(request)) {
    case "":
    case "application/json":
      return fromJson(await readText(request));
    case "application/yaml":
      return fromYaml(await readText(request));
    case "application/vnd.kubernetes.protobuf":
      return decodeBody(await readBytes(request));
    default:
      throw unsupportedMedia(OBJECT_TYPES);
  }
}

function mediaType({ headers }: IncomingMessage): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

async function readText(request: IncomingMessage): Promise<string> {
  return (await readBytes(request)).toString("utf8");
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers["content-length"]) > GIVE_UP_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size <= LIMIT_BYTES) chunks.push(chunk);
    else if (size > GIVE_UP_BYTES) throw tooLarge();
  }
  if (size > LIMIT_BYTES) throw tooLarge();
  return Buffer.concat(chunks);
}

function tooLarge(): Error {
  return failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT_BYTES}`);
}

function fromJson(text: string): JsonValue {
  try {
    const value: unknown = JSON.parse(text);
    if (isJson(value)) return value;
  } catch (error) {
    throw badRequest(`the body of the request is not JSON: ${messageOf(error)}`);
  }
  throw badRequest("the body of the request is not JSON");
}

function fromYaml(text: string): JsonValue {
  try {
    const value: unknown = parseYaml(text, { maxAliasCount: 0 });
    if (isJson(value)) return value;
  } catch (error) {
    throw badRequest(`the body of the request is not YAML: ${messageOf(error)}`);
  }
  throw badRequest("the body of the request holds what JSON cannot");
}

/** Clients that apply write JSON, which YAML contains; its own parser is many times faster. */
function fromYamlOrJson(text: string): JsonValue {
  if (!text.startsWith("{")) return fromYaml(text);
  try {
    return fromJson(text);
  } catch {
    return fromYaml(text);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "unreadable";
}
