import type { IncomingMessage } from "node:http";
import { parse as parseYaml } from "yaml";
import type { DeleteOptions, ListQuery, PatchBody, PatchOptions, Selection } from "../api/cluster-api.ts";
import { badRequest, failure, unsupportedMedia } from "../api/statuses.ts";
import {
  isJson,
  isList,
  isObject,
  type JsonObject,
  type JsonValue,
  textAt,
  textsAt,
  valueAt,
} from "../json.ts";
import { decodeBody } from "../protobuf/decode.ts";

/** What a request asks for, in its query and its body. */

/** As much as the real server takes. */
const LIMIT_BYTES = 3 * 1024 * 1024;
/** A client hears an answer only after it has sent its body: so much of one that is too large is read and thrown away. */
const GIVE_UP_BYTES = 10 * LIMIT_BYTES;

const PROTOBUF = "application/vnd.kubernetes.protobuf";
const PATCH_TYPES: ReadonlyMap<string, PatchBody["kind"]> = new Map<string, PatchBody["kind"]>([
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "strategic"],
  ["application/json-patch+json", "json"],
  ["application/apply-patch+yaml", "apply"],
]);

export async function readObject(request: IncomingMessage): Promise<JsonObject> {
  const type = mediaType(request);
  if (![PROTOBUF, "application/json", "application/yaml", ""].includes(type))
    throw unsupportedMedia(["application/json", "application/yaml", PROTOBUF]);
  const bytes = await readBytes(request);
  const value = type === PROTOBUF ? decodeBody(bytes) : parsed(bytes.toString("utf8"), type);
  if (isObject(value)) return value;
  throw badRequest("the body of the request must be an object");
}

/** The body of a DELETE may be left out. */
export async function readOptionalObject(request: IncomingMessage): Promise<JsonObject> {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  return length === "0" && encoding === undefined ? {} : readObject(request);
}

export async function readPatch(request: IncomingMessage): Promise<PatchBody> {
  const kind = PATCH_TYPES.get(mediaType(request));
  if (kind === undefined) throw unsupportedMedia([...PATCH_TYPES.keys()]);
  const text = (await readBytes(request)).toString("utf8");
  // Clients that apply mostly write JSON, which YAML contains; its own parser is many times faster.
  const body = parsed(text, kind === "apply" && !text.startsWith("{") ? "application/yaml" : "");
  if (kind === "json") {
    if (isList(body)) return { kind, body };
    throw badRequest("a JSON patch must be a list of operations");
  }
  if (isObject(body)) return { kind, body };
  throw badRequest("the patch must be an object");
}

function mediaType({ headers }: IncomingMessage): string {
  return (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size <= LIMIT_BYTES) chunks.push(chunk);
    else if (size > GIVE_UP_BYTES) break;
  }
  if (size <= LIMIT_BYTES) return Buffer.concat(chunks);
  throw failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT_BYTES}`);
}

function parsed(text: string, type: string): JsonValue {
  const name = type === "application/yaml" ? "YAML" : "JSON";
  try {
    const value: unknown = name === "YAML" ? parseYaml(text, { maxAliasCount: 0 }) : JSON.parse(text);
    if (isJson(value)) return value;
  } catch (error) {
    const why = error instanceof Error ? error.message : "unreadable";
    throw badRequest(`the body of the request is not ${name}: ${why}`);
  }
  throw badRequest("the body of the request holds what JSON cannot");
}

export function flagIn(query: URLSearchParams, name: string): boolean {
  const text = query.get(name);
  if (text === null || text === "0" || text === "false") return false;
  if (text === "" || text === "1" || text === "true") return true;
  throw badRequest(`invalid value "${text}" for query parameter "${name}": must be true or false`);
}

export function countIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? "";
  if (text === "") return undefined;
  if (/^\d{1,15}$/u.test(text)) return Number(text);
  throw badRequest(`invalid value "${text}" for query parameter "${name}": must be a whole number`);
}

function oneOf<T extends string>(
  [text, name]: readonly [text: string | null, name: string],
  values: readonly T[],
): T | undefined {
  if (text === null || text === "") return undefined;
  const found = values.find((value) => value === text);
  if (found !== undefined) return found;
  throw badRequest(`invalid value "${text}" for "${name}": must be one of ${values.join(", ")}`);
}

function textsIn<T extends string>(
  query: URLSearchParams,
  names: readonly T[],
): { readonly [name in T]?: string } {
  const found: { [name in T]?: string } = {};
  for (const name of names) {
    const text = query.get(name);
    if (text !== null && text !== "") found[name] = text;
  }
  return found;
}

export function listQuery(query: URLSearchParams): ListQuery {
  const limit = countIn(query, "limit");
  if (query.get("resourceVersionMatch") === "Exact")
    throw badRequest("resourceVersionMatch Exact is not supported here; use NotOlderThan");
  return {
    ...selectionIn(query),
    ...textsIn(query, ["continue", "resourceVersion"]),
    ...(limit === undefined || limit === 0 ? {} : { limit }),
  };
}

export function selectionIn(query: URLSearchParams): Selection {
  return textsIn(query, ["labelSelector", "fieldSelector"]);
}

/** Who does not name itself is known by the program it uses: `kubectl/v1.32` → `kubectl`. */
export function writeOptions(query: URLSearchParams, { headers }: IncomingMessage): PatchOptions {
  const validation = [query.get("fieldValidation"), "fieldValidation"] as const;
  return {
    dryRun: isDryRun(query),
    fieldManager: query.get("fieldManager") ?? (headers["user-agent"]?.split("/")[0] || "unknown"),
    fieldValidation: oneOf(validation, ["Ignore", "Warn", "Strict"]) ?? "Warn",
    force: flagIn(query, "force"),
  };
}

function isDryRun(query: URLSearchParams): boolean {
  return oneOf([query.get("dryRun"), "dryRun"], ["All"]) === "All";
}

/** From the query, and from a DeleteOptions in the body, which wins. */
export function deleteOptions(query: URLSearchParams, body: JsonObject): DeleteOptions {
  const seconds = valueAt(body, "gracePeriodSeconds");
  const grace = typeof seconds === "number" ? seconds : countIn(query, "gracePeriodSeconds");
  const policy = textAt(body, "propagationPolicy") || query.get("propagationPolicy");
  oneOf([policy, "propagationPolicy"], ["Background"]);
  const uid = textAt(body, "preconditions.uid");
  const resourceVersion = textAt(body, "preconditions.resourceVersion");
  return {
    dryRun: isDryRun(query) || textsAt(body, "dryRun").includes("All"),
    ...(uid === "" ? {} : { uid }),
    ...(resourceVersion === "" ? {} : { resourceVersion }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
  };
}

export type IncludeObject = "None" | "Metadata" | "Object";

export function includeObjectIn(query: URLSearchParams): IncludeObject {
  const asked = [query.get("includeObject"), "includeObject"] as const;
  return oneOf(asked, ["None", "Metadata", "Object"]) ?? "Metadata";
}
