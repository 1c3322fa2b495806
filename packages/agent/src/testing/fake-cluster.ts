import { type Clock, Fault } from "@resource-broker/base";
import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import type { WatchEvent, WatchQuery } from "@resource-broker/kube/testing";
import { type CallFaultRule, callWith } from "./call-fault.ts";
import { type FakeKinds, type FakeObject, fakeObjects } from "./fake-objects.ts";
import { merged, patched } from "./fake-patch.ts";
import { type Waiting, woken } from "./woken.ts";

export interface KubeCall {
  readonly verb: "get" | "list" | "watch" | "create" | "update" | "patch" | "apply" | "delete";
  readonly plural: string;
  /** Empty for lists and watches. */
  readonly name: string;
  /** Undefined: all of them, or the object has none. */
  readonly namespace?: string | undefined;
}

const BOOKMARK_MS = 60_000;
/** It knows no roles: whoever gets in may do everything. */
const ANSWER = {
  allowed: true,
  userInfo: { username: "system:serviceaccount:rear-agent:resource-broker-agent" },
};

interface OpenWatch extends Waiting {
  isCut: boolean;
}

export type FakeCluster = ReturnType<typeof fakeCluster>;

/** One cluster's API server in memory. What is done to `objects` is done by people, behind the agent's back. */
export function fakeCluster(clock: Clock, options: FakeKinds = {}) {
  const objects = fakeObjects(options);
  const calls: KubeCall[] = [];
  const listeners: ((call: KubeCall) => void)[] = [];
  const watches = new Set<OpenWatch>();
  let rule: CallFaultRule<KubeCall> | undefined;
  let isDown = false;
  let lagMs = 0;
  objects.onChange(() => {
    for (const watch of watches) watch.wake();
  });
  const cutWatches = (): void => {
    for (const watch of watches) {
      watch.isCut = true;
      watch.wake();
    }
  };
  const admit = (call: KubeCall): void => {
    if (isDown) throw new Fault("unreachable", "connection refused");
    calls.push(call);
    for (const listener of listeners) listener(call);
  };
  const call = async <T>(made: KubeCall, perform: () => unknown): Promise<T> => {
    admit(made);
    return await callWith(rule?.(made), () => {
      if (isDown) throw new Fault("unreachable", "connection reset");
      return structuredClone(perform()) as T;
    });
  };

  async function* watch<T>(resource: Resource<T>, query: WatchQuery): AsyncGenerator<WatchEvent<T>> {
    const made: KubeCall = {
      verb: "watch",
      plural: resource.plural,
      name: "",
      namespace: query.namespace,
    };
    admit(made);
    await callWith(rule?.(made), () => undefined);
    const line: OpenWatch = { isCut: false, wake: () => undefined };
    watches.add(line);
    query.onOpen?.();
    try {
      yield* events(resource, query, line);
    } finally {
      watches.delete(line);
    }
  }

  async function* events<T>(
    { plural }: Resource<T>,
    { namespace, resourceVersion, signal }: WatchQuery,
    line: OpenWatch,
  ): AsyncGenerator<WatchEvent<T>> {
    let next = placeAfter(Number(resourceVersion));
    while (signal?.aborted !== true) {
      if (line.isCut || isDown) throw new Fault("unreachable", "connection reset");
      const change = objects.history[next];
      if (change === undefined) {
        const isTime = await woken(line, { clock, idleMs: BOOKMARK_MS, signal });
        if (isTime) yield { type: "BOOKMARK", resourceVersion: String(lastVersion()) };
        continue;
      }
      next++;
      const { type, object, version } = change;
      if (change.plural !== plural || !isSelected(object, namespace)) continue;
      await lag();
      yield { type, object: structuredClone(object) as T, resourceVersion: String(version) };
    }
  }

  const placeAfter = (from: number): number => {
    const place = objects.history.findIndex(({ version }) => version > from);
    return place < 0 ? objects.history.length : place;
  };
  const lag = async (): Promise<void> => {
    if (lagMs > 0) await new Promise<void>((resolve) => void clock.after(lagMs, resolve));
  };
  const lastVersion = (): number => objects.history.at(-1)?.version ?? 1000;

  const client: KubeClient = {
    server: "https://fake",
    get: (resource, name) => call(named("get", resource, name), () => objects.get(resource, name)),
    find: (resource, name) => call(named("get", resource, name), () => objects.find(resource.plural, name)),
    list: async (resource, query, each) => {
      const listed = await call<{ found: FakeObject[]; version: number }>(
        { verb: "list", plural: resource.plural, name: "", namespace: query.namespace },
        () => ({
          found: objects.all(resource.plural).filter((object) => isSelected(object, query.namespace)),
          version: lastVersion(),
        }),
      );
      for (const object of listed.found) each(object as Parameters<typeof each>[0]);
      return { resourceVersion: String(listed.version), count: listed.found.length };
    },
    watch,
    create: (resource, object) =>
      resource.isQuestion === true
        ? Promise.resolve({ ...object, status: ANSWER })
        : call(named("create", resource, (object as FakeObject).metadata), () =>
            objects.create(resource, object as FakeObject),
          ),
    update: (resource, object) => {
      const wanted = object as FakeObject;
      return call(named("update", resource, wanted.metadata), () => {
        expectVersion(objects.get(resource, wanted.metadata), wanted.metadata);
        return objects.replace(resource, wanted);
      });
    },
    patch: (resource, { name, patch }, options) =>
      call(named("patch", resource, name), () => {
        const before = objects.get(resource, name);
        const after = patched(before, patch);
        expectVersion(before, after.metadata);
        const isStatus = options?.subresource === "status";
        return objects.replace(resource, isStatus ? withStatus(before, after.status) : after);
      }),
    apply: (resource, object) => {
      const wanted = object as unknown as FakeObject;
      return call(named("apply", resource, wanted.metadata), () => {
        const before = objects.find(resource.plural, wanted.metadata);
        if (before === undefined) return objects.create(resource, wanted);
        const metadata = merged(before.metadata, wanted.metadata) as FakeObject["metadata"];
        return objects.replace(resource, { ...before, ...wanted, metadata });
      });
    },
    delete: (resource, name, options = {}) =>
      call(named("delete", resource, name), () => {
        expectVersion(objects.get(resource, name), options);
        objects.remove(resource, name);
      }),
    read: (path) => Promise.reject(new Fault("not-found", `${path} is not served`)),
    close: () => undefined,
  };

  return {
    client,
    objects,
    put: <T>(resource: Resource<T>, object: T): T =>
      objects.create(resource, object as FakeObject) as typeof object,
    edit: <T>(resource: Resource<T>, name: ObjectName, by: (object: T) => T): T => {
      const before = objects.get(resource, name);
      return objects.replace(resource, by(before as never) as FakeObject) as never;
    },
    remove: objects.remove,
    find: <T>(resource: Resource<T>, name: ObjectName): T | undefined =>
      objects.find(resource.plural, name) as never,
    all: <T>(resource: Resource<T>): T[] => objects.all(resource.plural) as never,
    /** Every call that reached the server, in order. */
    calls,
    onCall: (listener: (call: KubeCall) => void): void => void listeners.push(listener),
    setCallFaults: (next: CallFaultRule<KubeCall> | undefined): void => {
      rule = next;
    },
    /** Nobody answers, and open watches break. */
    down: (): void => {
      isDown = true;
      cutWatches();
    },
    up: (): void => {
      isDown = false;
    },
    /** Events of watches come so late. */
    setWatchLag: (ms: number): void => {
      lagMs = ms;
    },
    /** Breaks open watches. */
    cutWatches,
  };
}

function named(
  verb: KubeCall["verb"],
  { plural }: Resource<unknown>,
  { name, namespace }: ObjectName,
): KubeCall {
  return { verb, plural, name, namespace };
}

function isSelected({ metadata }: FakeObject, namespace: string | undefined): boolean {
  return namespace === undefined || metadata.namespace === namespace;
}

/** Whoever names a version or a UID means that object and no other. */
function expectVersion(
  { metadata }: FakeObject,
  { uid = metadata.uid, resourceVersion = metadata.resourceVersion }: Partial<FakeObject["metadata"]>,
): void {
  if (uid === metadata.uid && resourceVersion === metadata.resourceVersion) return;
  throw new Fault("conflict", `${metadata.name} was changed by somebody else`);
}

function withStatus(object: FakeObject, status: object | undefined): FakeObject {
  return status === undefined ? object : { ...object, status };
}
