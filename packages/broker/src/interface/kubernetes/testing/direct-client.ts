import { Fault, type FaultCode } from "@resource-broker/base";
import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import type { WatchEvent, WatchQuery, WriteOptions } from "@resource-broker/kube/testing";
import {
  type ClusterApi,
  type JsonObject,
  type ListResult,
  type ResourceDefinition,
  StatusError,
  type Written,
} from "@resource-broker/kube-sim";

const CODES: Readonly<Record<string, FaultCode>> = {
  AlreadyExists: "already-exists",
  Conflict: "conflict",
  Expired: "gone",
  Gone: "gone",
  NotFound: "not-found",
  Forbidden: "forbidden",
  Invalid: "invalid",
  BadRequest: "invalid",
  MethodNotAllowed: "method-not-allowed",
};

/** What goes wrong with a call: before it arrives, or when its answer is on the way back. */
export interface CallFault {
  readonly fault: Fault;
  readonly isDone: boolean;
}

export interface CallSeen {
  readonly verb: "create" | "apply" | "patch" | "update" | "delete" | "get" | "list" | "watch";
  readonly plural: string;
  readonly name: string;
}

/** Asked before each call; undefined: it goes well. Others may do something meanwhile. */
export type CallHook = (call: CallSeen) => CallFault | undefined | Promise<CallFault | undefined>;

/** A client of a simulated cluster without sockets between them: all of it runs on the test's clock. */
export function directClient(api: ClusterApi, hook: CallHook): KubeClient & { readonly cut: () => void } {
  const watches = new Set<() => void>();

  const definitionOf = ({ group, plural }: Resource<unknown>): ResourceDefinition => {
    const found = api.definitions().find((each) => each.group === group && each.plural === plural);
    if (found === undefined) throw new Fault("not-found", `the server has no ${plural}.${group}`);
    return found;
  };
  const call = async <R>(seen: CallSeen, act: () => R): Promise<R> => {
    await Promise.resolve();
    const fault = await hook(seen);
    if (fault !== undefined && !fault.isDone) throw fault.fault;
    const done = refusalsAsFaults(act);
    if (fault !== undefined) throw fault.fault;
    return done;
  };
  const objectOf = <T>({ object }: Pick<Written, "object">): T => structuredClone(object) as unknown as T;
  const targetOf = (
    resource: Resource<unknown>,
    { name, namespace }: ObjectName,
    options: WriteOptions = {},
  ) => ({
    definition: definitionOf(resource),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(options.subresource === "status" ? { subresource: options.subresource } : {}),
  });
  const named = (object: unknown): ObjectName => (object as { metadata: ObjectName }).metadata;
  const writing = (fieldManager = "test") => ({
    dryRun: false,
    fieldManager,
    fieldValidation: "Strict" as const,
    force: false,
  });

  const get: KubeClient["get"] = <T>(resource: Resource<T>, name: ObjectName) =>
    call({ verb: "get", plural: resource.plural, name: name.name }, () =>
      objectOf<T>({ object: api.get(targetOf(resource, name)) }),
    );

  return {
    server: "direct",
    get,
    find: async (resource, name) => {
      try {
        return await get(resource, name);
      } catch (error) {
        if (error instanceof Fault && error.code === "not-found") return undefined;
        throw error;
      }
    },
    list: async <T>(resource: Resource<T>, query: { namespace?: string }, each: (object: T) => void) => {
      const { items, resourceVersion } = await call(
        { verb: "list", plural: resource.plural, name: "" },
        (): ListResult => api.list({ definition: definitionOf(resource), ...namespaceOf(query) }, {}),
      );
      for (const object of items) each(objectOf<T>({ object }));
      return { resourceVersion, count: items.length };
    },
    watch: <T>(resource: Resource<T>, query: WatchQuery) =>
      watch<T>({
        query,
        watches,
        open: (each) =>
          call({ verb: "watch", plural: resource.plural, name: "" }, () =>
            api.watch(
              { definition: definitionOf(resource), ...namespaceOf(query) },
              { resourceVersion: query.resourceVersion },
              each,
            ),
          ),
      }),
    create: <T>(resource: Resource<T>, object: T, options?: { fieldManager?: string }) =>
      call({ verb: "create", plural: resource.plural, name: named(object).name }, () => {
        const target = { definition: definitionOf(resource), ...namespaceOf(named(object)) };
        return objectOf<T>(api.create(target, object as JsonObject, writing(options?.fieldManager)));
      }),
    update: <T>(resource: Resource<T>, object: T, options?: WriteOptions) =>
      call({ verb: "update", plural: resource.plural, name: named(object).name }, () => {
        const target = targetOf(resource, named(object), options);
        return objectOf<T>(api.update(target, object as JsonObject, writing()));
      }),
    patch: (resource, { name, patch }, options) =>
      call({ verb: "patch", plural: resource.plural, name: name.name }, () =>
        objectOf(
          api.patch(
            targetOf(resource, name, options),
            patch as { kind: "merge"; body: JsonObject },
            writing(options?.fieldManager),
          ),
        ),
      ),
    apply: <T>(resource: Resource<T>, object: Partial<T>, options: Parameters<KubeClient["apply"]>[2]) =>
      call({ verb: "apply", plural: resource.plural, name: named(object).name }, () => {
        const { group, version, kind } = resource;
        const body = { apiVersion: `${group}/${version}`, kind, ...object } as JsonObject;
        const how = { ...writing(options.fieldManager), force: options.force === true };
        const target = targetOf(resource, named(object), options);
        return objectOf<T>(api.patch(target, { kind: "apply", body }, how));
      }),
    delete: (resource, name, options) =>
      call({ verb: "delete", plural: resource.plural, name: name.name }, () => {
        const { uid, resourceVersion } = options ?? {};
        api.delete(targetOf(resource, name), {
          dryRun: false,
          ...(uid === undefined ? {} : { uid }),
          ...(resourceVersion === undefined ? {} : { resourceVersion }),
        });
      }),
    read: () => Promise.reject(new Error("not offered here")),
    close: () => undefined,
    cut: () => {
      for (const end of watches) end();
    },
  };
}

interface Watching {
  readonly query: WatchQuery;
  readonly watches: Set<() => void>;
  readonly open: (
    each: (change: { type: "ADDED" | "MODIFIED" | "DELETED"; object: JsonObject }) => void,
  ) => Promise<{ readonly stop: () => void }>;
}

async function* watch<T>({ query, watches, open }: Watching): AsyncGenerator<WatchEvent<T>> {
  const events: WatchEvent<T>[] = [];
  let wake = (): void => undefined;
  let isCut = false;
  const cut = (): void => {
    isCut = true;
    wake();
  };
  const opened = await open(({ type, object }) => {
    const { resourceVersion } = (object as { metadata: { resourceVersion: string } }).metadata;
    events.push({ type, object: structuredClone(object) as unknown as T, resourceVersion });
    wake();
  });
  const onAbort = (): void => wake();
  query.signal?.addEventListener("abort", onAbort);
  watches.add(cut);
  query.onOpen?.();
  try {
    while (query.signal?.aborted !== true) {
      const event = events.shift();
      if (event !== undefined) yield event;
      else if (isCut) throw new Fault("unreachable", "the connection broke");
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    watches.delete(cut);
    query.signal?.removeEventListener("abort", onAbort);
    opened.stop();
  }
}

function namespaceOf({ namespace }: { readonly namespace?: string }): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function refusalsAsFaults<R>(act: () => R): R {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { reason } = error.status as { readonly reason?: string };
    throw new Fault(CODES[reason ?? ""] ?? "internal", error.message, { cause: error });
  }
}
