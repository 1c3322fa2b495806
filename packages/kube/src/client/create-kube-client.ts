import { type Clock, Fault, isRecord, type Log } from "@resource-broker/base";
import type { Reloads } from "@resource-broker/runtime";
import { CREDENTIALS, credentialSource } from "../auth/credential-source.ts";
import type { KubeConfig } from "../config/kube-config.ts";
import type { Environment } from "../config/load-kube-config.ts";
import type { HttpRequest } from "../http/exchange.ts";
import { httpClient } from "../http/http-client.ts";
import {
  collectionPath,
  type ObjectName,
  objectPath,
  type Resource,
  type Subresource,
} from "../resource/resource.ts";
import type { Target } from "../status/status-fault.ts";
import type { ApplyOptions, CallOptions, DeleteOptions, KubeClient, Patch, WriteOptions } from "./client.ts";
import { listAll } from "./list.ts";
import {
  CALL_TIMEOUT_MS,
  formats as createFormats,
  isSuccess,
  JSON_TYPE,
  parseJsonBody,
  queryOf,
  refusalOf,
} from "./replies.ts";
import { watchEvents } from "./watch.ts";

const PATCH_TYPES: Readonly<Record<Patch["kind"] | "apply", string>> = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  // JSON is YAML, too.
  apply: "application/apply-patch+yaml",
};

interface ObjectCall {
  readonly resource: Resource<unknown>;
  /** As in a Role. */
  readonly verb: "get" | "create" | "update" | "patch" | "delete";
  readonly method: HttpRequest["method"];
  /** Absent: a question, which has none. */
  readonly name?: ObjectName;
  readonly content?: { readonly type: string; readonly body: unknown } | undefined;
  readonly options: Partial<ApplyOptions>;
  /** Absent: unless it creates. */
  readonly isRepeatable?: boolean;
}

/** A call that is ready to be sent. */
interface PlannedCall {
  readonly request: Omit<HttpRequest, "accept" | "timeoutMs" | "signal">;
  readonly target: Target;
}

type Server = Pick<Target, "server" | "origin">;

function planCall(server: Server, call: ObjectCall): PlannedCall {
  const { resource, verb, method, name, content, options, isRepeatable = verb !== "create" } = call;
  const { subresource, fieldManager, dryRun, force } = options;
  const query = queryOf({
    fieldManager,
    dryRun: dryRun === true ? "All" : undefined,
    force: force === true ? "true" : undefined,
  });
  return {
    request: {
      method,
      path: `${pathOf(call)}${query}`,
      ...(content && { content: { type: content.type, body: JSON.stringify(content.body) } }),
      isRepeatable,
    },
    target: targetOf(server, resource, { verb, ...name, subresource }),
  };
}

function pathOf({ resource, verb, name, options: { subresource } }: ObjectCall): string {
  if (name === undefined) return collectionPath(resource);
  // Built for a new object, too, because it validates name and namespace.
  const own = objectPath(resource, name, subresource);
  return verb === "create" && subresource === undefined ? collectionPath(resource, name.namespace) : own;
}

function creation(resource: Resource<unknown>, object: unknown, options: WriteOptions): ObjectCall {
  const call = { resource, verb: "create", method: "POST", content: jsonOf(resource, object) } as const;
  // A review changes nothing, so it can be repeated.
  if (resource.isQuestion === true) return { ...call, options: { ...options }, isRepeatable: true };
  const name = newNameIn(resource, object);
  if (options.subresource === "status") {
    throw new Fault("invalid", `the status of ${resource.kind} ${name.name} cannot be created: update it`);
  }
  return { ...call, name, options };
}

/** Undefined where nothing is to be said. */
function deletionContent(options: DeleteOptions): ObjectCall["content"] {
  const { uid, resourceVersion, gracePeriodSeconds } = options;
  const hasPreconditions = uid !== undefined || resourceVersion !== undefined;
  if (!hasPreconditions && gracePeriodSeconds === undefined) return undefined;
  const preconditions = hasPreconditions ? { uid, resourceVersion } : undefined;
  // JSON leaves out what is undefined.
  return { type: JSON_TYPE, body: { preconditions, gracePeriodSeconds } };
}

interface CallTarget {
  readonly verb: string;
  readonly name?: string;
  readonly namespace?: string | undefined;
  readonly subresource?: Subresource | undefined;
}

/** What a call on a resource is about, in the words of a Role. */
function targetOf(
  { server, origin }: Server,
  { group, plural }: Resource<unknown>,
  { verb, name, namespace, subresource }: CallTarget,
): Target {
  const object = {
    group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
  return { server, origin, verb, object };
}

/** What an object calls itself. */
function nameIn(resource: Resource<unknown>, object: unknown): ObjectName {
  const { name, namespace } = metadataOf(object);
  if (typeof name !== "string") throw new Fault("invalid", `every ${resource.kind} needs a metadata.name`);
  return { name, ...(typeof namespace === "string" ? { namespace } : {}) };
}

/** What a new object calls itself; where it gives only the beginning (`generateName`), the server adds the rest. */
function newNameIn(resource: Resource<unknown>, object: unknown): ObjectName {
  const { name, generateName, namespace } = metadataOf(object);
  const isChosen = name === undefined && typeof generateName === "string";
  return nameIn(resource, isChosen ? { metadata: { name: generateName, namespace } } : object);
}

function metadataOf(object: unknown): Readonly<Record<string, unknown>> {
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  return isRecord(metadata) ? metadata : {};
}

/** Adds apiVersion and kind: objects from lists of built-in kinds have none, but the server requires them on writes. */
function jsonOf({ group, version, kind }: Resource<unknown>, object: unknown) {
  const type = { apiVersion: group === "" ? version : `${group}/${version}`, kind };
  return { type: JSON_TYPE, body: { ...type, ...(isRecord(object) ? object : {}) } };
}

export interface KubeClientDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** What credential plugins inherit. */
  readonly env: Environment;
  /** True: credential plugins may prompt on the terminal. */
  readonly isInteractive?: boolean;
  /** User-Agent header; shown in audit logs. */
  readonly userAgent?: string;
  /** Receives credentials that cannot be read again or not be used. */
  readonly reloads?: Pick<Reloads, "source">;
  /** Told the API server's time, as each of its answers states it. */
  readonly onDate?: (serverTimeMs: number) => void;
}

/** A client of one cluster. Nothing is read or opened before the first call. */
export function createKubeClient(config: KubeConfig, deps: KubeClientDeps): KubeClient {
  const { clock, log, env, isInteractive = false, userAgent = "resource-broker", reloads, onDate } = deps;
  const credentials = credentialSource(config, {
    clock,
    log,
    env,
    isInteractive,
    ...(reloads && { reloads }),
  });
  const report = reloads?.source(CREDENTIALS);
  const more = { ...(report && { report }), ...(onDate && { onDate }) };
  const http = httpClient(config, { credentials, clock, log, userAgent, ...more });
  const formats = createFormats();
  const { server } = config;

  const perform = async ({ request, target }: PlannedCall, { signal }: CallOptions): Promise<unknown> => {
    const reply = await http.call({ ...request, accept: JSON_TYPE, timeoutMs: CALL_TIMEOUT_MS, signal });
    if (!isSuccess(reply)) throw refusalOf(reply, target);
    return parseJsonBody(reply.body);
  };
  const send = async <T>(call: ObjectCall): Promise<T> => {
    const object = await perform(planCall(config, call), call.options);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the resource says what its server sends
    return object as T;
  };
  const get: KubeClient["get"] = (resource, name, options = {}) =>
    send({ resource, verb: "get", method: "GET", name, options });

  return {
    server,
    get,
    find: async (resource, name, options) => {
      try {
        return await get(resource, name, options);
      } catch (error) {
        if (error instanceof Fault && error.code === "not-found") return undefined;
        throw error;
      }
    },
    list: (resource, query, each) => {
      const target = targetOf(config, resource, { verb: "list", namespace: query.namespace });
      return listAll({ resource, query, each }, { http, formats, target });
    },
    watch: (resource, query) => {
      const target = targetOf(config, resource, { verb: "watch", namespace: query.namespace });
      return watchEvents(resource, query, { clock, http, formats, target });
    },
    create: async (resource, object, options = {}) => send(creation(resource, object, options)),
    update: async (resource, object, options = {}) => {
      const name = nameIn(resource, object);
      return send({
        resource,
        verb: "update",
        method: "PUT",
        name,
        content: jsonOf(resource, object),
        options,
      });
    },
    patch: (resource, { name, patch: { kind, body } }, options = {}) => {
      const content = { type: PATCH_TYPES[kind], body };
      // A JSON patch may not be idempotent.
      const isRepeatable = kind !== "json";
      return send({ resource, verb: "patch", method: "PATCH", name, content, options, isRepeatable });
    },
    apply: async (resource, object, options) => {
      const name = nameIn(resource, object);
      const content = { ...jsonOf(resource, object), type: PATCH_TYPES.apply };
      return send({ resource, verb: "patch", method: "PATCH", name, content, options });
    },
    delete: async (resource, name, options = {}) => {
      const content = deletionContent(options);
      await send({ resource, verb: "delete", method: "DELETE", name, content, options });
    },
    read: async (path, options = {}) => {
      const request = { method: "GET", path: checkedPath(path), isRepeatable: true } as const;
      return perform({ request, target: { ...config, verb: "get", object: { path } } }, options);
    },
    close: http.close,
  };
}

/** Accepts only absolute paths without `..` or encoded slashes. */
function checkedPath(path: string): string {
  const [bare = ""] = path.split("?", 1);
  if (/^\/(?!\/)[!-~]*$/u.test(path) && !/(?:^|\/)\.{1,2}(?:\/|$)|%2e|%2f|#/iu.test(bare)) return path;
  throw new Fault(
    "invalid",
    `${JSON.stringify(path)} is not a path of an API server: use a path such as /version`,
  );
}
