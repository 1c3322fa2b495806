import { type Clock, Fault } from "@resource-broker/base";
import type { CallOptions, KubeClient, ListQuery, WatchEvent, WatchQuery } from "../client/client.ts";
import type { Resource } from "../resource/resource.ts";
import { type FakeLine, type FakeLink, type FakeLinkControls, type FakeVerb, fakeLink } from "./fake-link.ts";
import { type FakeObject, type FakeStore, fakeStore } from "./fake-store.ts";

export interface FakeKubeOptions {
  readonly clock: Clock;
  /** Of each request, and of each page of a list. Absent: 0. */
  readonly latencyMs?: () => number;
  /** Absent: a minute, as real servers do. */
  readonly bookmarkMs?: number;
}

/** An API server in memory. What is done to the store happens behind the clients' backs. */
export interface FakeKube {
  readonly store: FakeStore;
  readonly connect: () => FakeConnection;
}

/** A client, and what can be made to go wrong on its way to the server. */
export interface FakeConnection extends FakeLinkControls {
  readonly client: KubeClient;
}

interface Connecting {
  readonly store: FakeStore;
  readonly link: FakeLink;
  readonly clock: Clock;
  readonly bookmarkMs: number;
}

export function fakeKube({ clock, latencyMs = () => 0, bookmarkMs = 60_000 }: FakeKubeOptions): FakeKube {
  const store = fakeStore();
  return {
    store,
    connect: () => {
      const link = fakeLink(clock, latencyMs);
      store.onChange(link.wakeAll);
      return { client: fakeClient({ store, link, clock, bookmarkMs }), ...link.controls };
    },
  };
}

function fakeClient(connecting: Connecting): KubeClient {
  const { store, link } = connecting;

  /** The store's objects are of the type that the resource names: tests put no others there. */
  const call = async <T>(
    { verb, resource }: { verb: FakeVerb; resource: Resource<T> },
    options: CallOptions | undefined,
    perform: () => unknown,
  ): Promise<T> => {
    const line = link.open({ verb, plural: resource.plural }, options?.signal);
    try {
      await line.ready();
      const failure = line.takeFailure(verb);
      if (failure !== undefined && failure.isDone !== true) throw failure.fault;
      const result = structuredClone(perform());
      // The answer has its way to go, too: what was done may be long ago when the caller hears of it.
      await line.ready();
      if (failure !== undefined) throw failure.fault;
      return result as T;
    } finally {
      line.close();
    }
  };

  return {
    server: "fake",
    get: (resource, name, options) =>
      call({ verb: "get", resource }, options, () => store.get(resource, name)),
    find: (resource, name, options) =>
      call({ verb: "get", resource }, options, () => store.find(resource, name)),
    list: (resource, query, each) => list({ ...connecting, resource, query }, each),
    watch: (resource, query) => watch({ ...connecting, resource, query }),
    create: (resource, object, options) =>
      call({ verb: "create", resource }, options, () => store.create(resource, object as object)),
    update: (resource, object, options) =>
      call({ verb: "update", resource }, options, () => store.update(resource, object as object)),
    patch: (resource, { name, patch }, options) =>
      call({ verb: "patch", resource }, options, () => store.patch(resource, name, patch)),
    delete: async (resource, name, { signal, ...only } = {}) => {
      await call({ verb: "delete", resource }, signal === undefined ? {} : { signal }, () =>
        store.delete(resource, name, only),
      );
    },
    apply: () => Promise.reject(new Fault("unsupported", "the fake knows no server-side apply")),
    read: () => Promise.reject(new Fault("unsupported", "the fake reads no paths")),
    close: () => undefined,
  };
}

async function list<T>(
  { store, link, resource, query }: Connecting & { resource: Resource<T>; query: ListQuery },
  each: (object: T) => void,
): Promise<{ resourceVersion: string; count: number }> {
  const line = link.open({ verb: "list", plural: resource.plural }, query.signal);
  try {
    await line.ready();
    const version = store.version();
    const objects = store.objects(resource).filter((object) => isSelected(object, query));
    const pageSize = query.pageSize ?? 500;
    for (let from = 0; from === 0 || from < objects.length; from += pageSize) {
      if (from > 0) await line.ready();
      const failure = line.takeFailure("list");
      if (failure !== undefined) throw failure.fault;
      if (from > 0 && store.compactedTo() > version) throw new Fault("gone", "the continue token is too old");
      for (const object of objects.slice(from, from + pageSize)) each(structuredClone(object) as T);
    }
    return { resourceVersion: String(version), count: objects.length };
  } finally {
    line.close();
  }
}

interface Watching<T> extends Connecting {
  readonly resource: Resource<T>;
  readonly query: WatchQuery;
}

async function* watch<T>(watching: Watching<T>): AsyncGenerator<WatchEvent<T>> {
  const { store, link, resource, query } = watching;
  const line = link.open({ verb: "watch", plural: resource.plural }, query.signal);
  try {
    await line.ready();
    const failure = line.takeFailure("watch");
    if (failure !== undefined) throw failure.fault;
    if (Number(query.resourceVersion) < store.compactedTo()) throw tooOld(query.resourceVersion);
    query.onOpen?.();
    yield* events(watching, line);
  } finally {
    line.close();
  }
}

async function* events<T>(
  { store, clock, bookmarkMs, resource, query }: Watching<T>,
  line: FakeLine,
): AsyncGenerator<WatchEvent<T>> {
  const endsAt = clock.monotonicMs() + (query.timeoutSeconds ?? 3600) * 1000;
  let bookmarkAt = clock.monotonicMs() + bookmarkMs;
  let seen = Number(query.resourceVersion);
  while ((await line.responds()) && clock.monotonicMs() < endsAt) {
    const change = store.changeAfter(resource, seen);
    if (change !== undefined) {
      if (line.isCorrupted()) throw new Fault("malformed", "unreadable event");
      seen = change.version;
      if (!isSelected(change.object, query)) continue;
      yield { type: change.type, object: structuredClone(change.object) as T, resourceVersion: String(seen) };
    } else if (store.newestChange(resource) > seen) {
      throw tooOld(String(seen));
    } else if (clock.monotonicMs() >= bookmarkAt) {
      bookmarkAt = clock.monotonicMs() + bookmarkMs;
      seen = store.version();
      yield { type: "BOOKMARK", resourceVersion: String(seen) };
    } else {
      await line.idle(Math.min(endsAt, bookmarkAt));
    }
  }
}

function tooOld(version: string): Fault {
  return new Fault("gone", `too old resource version: ${version}`);
}

function isSelected({ metadata }: FakeObject, query: ListQuery | WatchQuery): boolean {
  if (query.labelSelector !== undefined || query.fieldSelector !== undefined) {
    throw new Fault("unsupported", "the fake knows no selectors");
  }
  return query.namespace === undefined || metadata.namespace === query.namespace;
}
