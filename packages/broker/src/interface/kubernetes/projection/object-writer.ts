import { Fault, type ObjectMeta } from "@resource-broker/base";
import {
  type EventInput,
  type EventRecorder,
  type KubeClient,
  type ObjectCache,
  objectKey,
  type ObjectName,
  type Resource,
} from "@resource-broker/kube";
import { type StatusOwnership, statusDiff } from "../builders/conditions.ts";
import { FIELD_MANAGER } from "../ports.ts";
import type { BrokerObject, DesiredObject, Part, Write } from "./desired-object.ts";

export interface WriterOptions<T extends BrokerObject> {
  readonly resource: Resource<T>;
  readonly ownership: StatusOwnership;
  /** Creates a minimal valid view; its other parts are applied afterwards. */
  readonly create: (desired: DesiredObject<T>, signal: AbortSignal) => Promise<T>;
  /** Adds to the status of an answer what is too large to compare. */
  readonly complete?: (status: NonNullable<T["status"]>) => Promise<NonNullable<T["status"]>>;
  /** Events for `kubectl describe` about a written status. */
  readonly eventsFor: (before: T, status: NonNullable<T["status"]>) => readonly EventInput[];
}

export interface WriterDeps<T> {
  readonly client: KubeClient;
  readonly cache: AssumeCache<T>;
  readonly recorder: EventRecorder;
  /** Runs the write of a view when it may be made. */
  readonly run: <R>(write: () => Promise<R>) => Promise<R>;
  /** Aborts writes of views, so that a hanging server does not delay the stop. */
  readonly signal: AbortSignal;
}

/** Performs a write. Returns the written object; undefined: it is gone, or the same status was written before. */
export type PerformWrite<T extends BrokerObject> = (
  object: T | undefined,
  write: Write<T>,
) => Promise<T | undefined>;

/** All writes to objects of one kind. Each requires the UID, so it never changes a new object of the same name. */
export interface ObjectWriter<T extends BrokerObject> {
  readonly answer: PerformWrite<T>;
  /** Requires the planned version, so that no other write is lost. */
  readonly show: PerformWrite<T>;
  /** The object is gone. */
  readonly forget: (key: string) => void;
}

type Body = Omit<Part, "labels"> & { readonly metadata?: object };

export function objectWriter<T extends BrokerObject>(
  options: WriterOptions<T>,
  { client, cache, recorder, run, signal }: WriterDeps<T>,
): ObjectWriter<T> {
  const { resource, ownership } = options;
  /** The last written status per object: a server that drops fields must not cause endless writes. */
  const lastWritten = new Map<string, string>();
  const statusKey = ({ metadata }: T, status: object): string =>
    JSON.stringify([metadata.resourceVersion, status], (name, value: unknown) =>
      name === "lastTransitionTime" || (ownership.ignoresUpdateTime && name === "lastUpdateTime")
        ? undefined
        : value,
    );
  const observed = (object: T): T => {
    cache.assume(object);
    return object;
  };

  const writerOf = (isView: boolean): PerformWrite<T> => {
    /** `not-found` means that this object was deleted; the watch event follows. */
    const update = (call: () => Promise<T>): Promise<T | undefined> => {
      const write = () => call().then(observed, ignoreNotFound);
      return isView ? run(write) : write();
    };
    const optionsFor = ({ status }: Body) => ({
      ...(isView ? { signal } : {}),
      ...(status === undefined ? {} : ({ subresource: "status" } as const)),
    });
    const apply = (
      { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }: T,
      { labels, ...parts }: Part,
      { fieldManager, isVersionRequired }: { fieldManager: string; isVersionRequired: boolean },
    ): Promise<T | undefined> => {
      const metadata = {
        name,
        namespace,
        uid,
        ...(isVersionRequired ? { resourceVersion } : {}),
        ...(labels === undefined ? {} : { labels }),
      };
      const object = asObject<T>({ apiVersion, kind, metadata, ...parts });
      return update(() =>
        client.apply(resource, object, { fieldManager, force: true, ...optionsFor(parts) }),
      );
    };
    const patch = (found: T, change: Body, isVersionRequired: boolean): Promise<T | undefined> => {
      const { uid, resourceVersion } = found.metadata;
      const preconditions = isVersionRequired ? { uid, resourceVersion } : { uid };
      const body = { ...change, metadata: { ...preconditions, ...change.metadata } };
      return update(() =>
        client.patch(
          resource,
          { name: nameOf(found), patch: { kind: "merge", body } },
          { fieldManager: FIELD_MANAGER, ...optionsFor(change) },
        ),
      );
    };
    const applyStatus = async (
      object: T,
      { status, isVersionRequired = isView }: Write<T> & { kind: "write-status" },
    ): Promise<T | undefined> => {
      const whole = isView ? status : ((await options.complete?.(status)) ?? status);
      const manager = { fieldManager: FIELD_MANAGER, isVersionRequired };
      const applied = await apply(object, { status: whole }, manager);
      // An apply cannot take away what others wrote.
      const { removals } = statusDiff(status, applied?.status ?? {}, ownership);
      return applied === undefined || removals === undefined
        ? applied
        : patch(applied, { status: removals }, true);
    };
    const writeStatus = async (
      object: T,
      write: Write<T> & { kind: "write-status" },
    ): Promise<T | undefined> => {
      const { status } = write;
      const key = objectKey(object);
      if (lastWritten.get(key) === statusKey(object, status)) return undefined;
      const written = await applyStatus(object, write);
      if (written === undefined) return undefined;
      lastWritten.set(key, statusKey(written, status));
      for (const event of options.eventsFor(object, status)) recorder.record(event);
      return written;
    };
    const remove = async (object: T): Promise<undefined> => {
      const { uid = "", resourceVersion = "" } = object.metadata;
      const preconditions = isView ? { uid, resourceVersion, signal } : { uid };
      const call = () => client.delete(resource, nameOf(object), preconditions).catch(ignoreNotFound);
      await (isView ? run(call) : call());
      cache.forget(objectKey(object));
    };

    return async (object, write) => {
      if (write.kind === "create") return observed(await run(() => options.create(write.desired, signal)));
      if (object === undefined) return undefined;
      switch (write.kind) {
        case "delete":
          return remove(object);
        case "patch":
          return patch(object, write.change, write.isVersionRequired ?? isView);
        case "apply":
          return apply(object, write.part, { fieldManager: write.fieldManager, isVersionRequired: isView });
        case "write-status":
          return writeStatus(object, write);
      }
    };
  };

  return {
    answer: writerOf(false),
    show: writerOf(true),
    forget: (key) => {
      cache.forget(key);
      lastWritten.delete(key);
    },
  };
}

function nameOf({ metadata: { name, namespace } }: BrokerObject): ObjectName {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

function ignoreNotFound(error: unknown): undefined {
  if (error instanceof Fault && error.code === "not-found") return undefined;
  throw error;
}

/** The types of the builders guarantee the shape: DesiredObject, and the status of the kind. */
function asObject<T extends BrokerObject>(fields: object): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no type says "a part of T that may be applied"
  return fields as T;
}

/**
 * The informer's cache, plus own writes that the watch has not delivered yet. Without it, a reconcile that runs before the
 * watch has caught up would repeat its writes.
 */
interface AssumeCache<T> {
  readonly get: (key: string) => T | undefined;
  /** The server's answer to a write. */
  readonly assume: (object: T) => void;
  /** The server says that it is gone. */
  readonly forget: (key: string) => void;
  readonly stop: () => void;
}

interface Stored {
  readonly metadata: ObjectMeta;
}

export function assumeCache<T extends Stored>(known: ObjectCache<T>, keep: (object: T) => T): AssumeCache<T> {
  const assumed = new Map<string, T>();
  const stop = known.listen((key, now) => {
    const own = assumed.get(key);
    if (own !== undefined && (now === undefined || !isNewer(own, now))) assumed.delete(key);
  });
  return {
    get: (key) => assumed.get(key) ?? known.get(key),
    assume: (object) => {
      const key = objectKey(object);
      const followed = known.get(key);
      if (followed !== undefined && isNewer(object, followed)) assumed.set(key, keep(object));
    },
    forget: (key) => void assumed.delete(key),
    stop,
  };
}

/** Versions are whole numbers in decimal digits; objects of the same name but another UID do not compare. */
function isNewer(a: Stored, b: Stored): boolean {
  const [mine, other] = [a.metadata.resourceVersion ?? "", b.metadata.resourceVersion ?? ""];
  if (a.metadata.uid !== b.metadata.uid) return false;
  return mine.length === other.length ? mine > other : mine.length > other.length;
}
