import { type Clock, Fault, type Log } from "@resource-broker/base";
import type { Reloads } from "@resource-broker/runtime";
import { CREDENTIALS, credentialSource } from "../auth/credential-source.ts";
import type { Environment } from "../config/in-cluster.ts";
import type { KubeConfig } from "../config/kube-config.ts";
import { httpClient } from "../http/http-client.ts";
import type { Target } from "../status/status-fault.ts";
import {
  perform,
  planApply,
  planCreate,
  planDelete,
  planGet,
  planPatch,
  planUpdate,
  targetOf,
} from "./calls.ts";
import type { KubeClient } from "./client.ts";
import { listAll } from "./list.ts";
import { formats as createFormats } from "./replies.ts";
import { watchEvents } from "./watch.ts";

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
}

/** A client of one cluster. Nothing is read or opened before the first call. */
export function createKubeClient(config: KubeConfig, deps: KubeClientDeps): KubeClient {
  const { clock, log, env, isInteractive = false, userAgent = "resource-broker", reloads } = deps;
  const credentials = credentialSource(config, {
    clock,
    log,
    env,
    isInteractive,
    ...(reloads && { reloads }),
  });
  const report = reloads?.source(CREDENTIALS);
  const http = httpClient(config, { credentials, clock, log, userAgent, ...(report && { report }) });
  const formats = createFormats();
  const { server } = config;

  const get: KubeClient["get"] = async (resource, name, options = {}) =>
    as(await perform(http, planGet(config, resource, name), options));

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
    create: async (resource, object, options = {}) =>
      as(await perform(http, planCreate(config, { resource, object, options }), options)),
    update: async (resource, object, options = {}) =>
      as(await perform(http, planUpdate(config, { resource, object, options }), options)),
    patch: async (resource, change, options = {}) =>
      as(await perform(http, planPatch(config, { resource, change, options }), options)),
    apply: async (resource, object, options) =>
      as(await perform(http, planApply(config, { resource, object, options }), options)),
    delete: async (resource, name, options = {}) => {
      await perform(http, planDelete(config, { resource, name, options }), options);
    },
    read: async (path, options = {}) => {
      const target: Target = { ...config, verb: "get", object: { path } };
      return perform(
        http,
        { request: { method: "GET", path: checkedPath(path), isRepeatable: true }, target },
        options,
      );
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

function as<T>(object: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the resource says what its server sends
  return object as T;
}
