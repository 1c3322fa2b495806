import { Fault } from "@resource-broker/base";
import { KUBE_LABEL } from "@resource-broker/contract/crd";
import type { KubeClient, ObjectName, ReconcileResult, Resource } from "@resource-broker/kube";
import type { Fields } from "../objects/diff.ts";
import { FIELD_MANAGER, type KubernetesOptions, type PartDeps } from "../ports.ts";
import {
  type DesiredObject,
  differs,
  type Layer,
  type StatusOwnership,
  specRemovals,
  statusDiff,
  type ViewObject,
} from "./desired-object.ts";
import type { WriteQueue } from "./rate-limiter.ts";

export type ViewsOptions = Pick<KubernetesOptions, "namespace" | "objects">;

/** Dependencies of the views of one kind. */
export interface ViewsDeps
  extends Pick<PartDeps, "engine" | "client" | "known" | "recorder" | "sliceDefaults"> {
  readonly queue: WriteQueue;
  /** Aborted when the views stop, so that a hanging server does not delay the stop. */
  readonly signal: AbortSignal;
}

/** The views of one kind. */
export interface ViewController {
  /** Makes the object of this name match the ledger. */
  readonly reconcile: (name: string) => Promise<ReconcileResult>;
  readonly stop: () => void;
}

export interface ViewWriterOptions<T extends ViewObject> {
  readonly resource: Resource<T>;
  readonly ownership: StatusOwnership;
  /** Parts of labels and spec; each is applied with its own field manager. */
  readonly layers: readonly Layer<T>[];
  /** Creates a minimal valid object; the layers are applied afterwards. */
  readonly create: (desired: DesiredObject<T>) => Promise<T>;
}

export interface ViewWriterDeps<T> {
  readonly client: Pick<KubeClient, "apply" | "patch" | "delete">;
  readonly queue: WriteQueue;
  /** Aborts running calls. */
  readonly signal: AbortSignal;
  /** Called with the object that the server returns for a write. */
  readonly assume: (object: T) => void;
}

/** Writes views. Each write requires the planned resourceVersion, so that no other write is lost. */
export interface ViewWriter<T extends ViewObject> {
  /** Returns the written object; undefined: it was deleted. */
  readonly apply: (desired: DesiredObject<T>, found: T | undefined) => Promise<T | undefined>;
  /** True when the status had to be written. */
  readonly applyStatus: (status: NonNullable<T["status"]>, found: T) => Promise<boolean>;
  /** Removes the label that makes it a view of the broker. */
  readonly removeViewLabel: (found: T) => Promise<void>;
  readonly remove: (found: T) => Promise<void>;
  /** Removes a finalizer, so that a deletion can complete. */
  readonly removeFinalizer: (found: T, finalizer: string) => Promise<void>;
}

/** Content of a merge patch: the status alone, or metadata and spec. */
interface Change {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

export function viewWriter<T extends ViewObject>(
  options: ViewWriterOptions<T>,
  deps: ViewWriterDeps<T>,
): ViewWriter<T> {
  const { resource, ownership, layers } = options;
  const { client, queue, signal } = deps;

  const observed = (object: T): T => {
    deps.assume(object);
    return object;
  };
  /** A write to an existing object. `not-found` means that this object was deleted, and is not a server fault. */
  const write = (call: () => Promise<T>): Promise<T | undefined> =>
    queue.run(() => call().then(observed, ignoreNotFound));

  const applyTo = (
    found: T,
    { labels, ...parts }: { readonly labels?: Fields; readonly spec?: object; readonly status?: object },
    fieldManager: string,
  ): Promise<T | undefined> => {
    const { apiVersion, kind } = found;
    const metadata = {
      ...nameOf(found),
      ...preconditionsOf(found),
      ...(labels === undefined ? {} : { labels }),
    };
    const object = asObject<T>({ apiVersion, kind, metadata, ...parts });
    const target = parts.status === undefined ? {} : ({ subresource: "status" } as const);
    return write(() => client.apply(resource, object, { fieldManager, force: true, signal, ...target }));
  };
  const patch = (found: T, { metadata, ...parts }: Change): Promise<T | undefined> => {
    const body = { metadata: { ...preconditionsOf(found), ...metadata }, ...parts };
    const target = parts.status === undefined ? {} : ({ subresource: "status" } as const);
    return write(() =>
      client.patch(
        resource,
        { name: nameOf(found), patch: { kind: "merge", body } },
        { fieldManager: FIELD_MANAGER, signal, ...target },
      ),
    );
  };

  const apply: ViewWriter<T>["apply"] = async (desired, found) => {
    let now = found ?? observed(await queue.run(() => options.create(desired)));
    const surplus = specRemovals(desired, now);
    const pruned = surplus === undefined ? now : await patch(now, { spec: surplus });
    if (pruned === undefined) return undefined;
    now = pruned;
    for (const { fieldManager, partOf } of layers) {
      const part = partOf(desired);
      if (!differs(part, now)) continue;
      const applied = await applyTo(now, part, fieldManager);
      if (applied === undefined) return undefined;
      now = applied;
    }
    return now;
  };

  return {
    apply,
    applyStatus: async (status, found) => {
      const diff = statusDiff(status, found.status ?? {}, ownership);
      const { removals } = diff;
      const pruned = removals === undefined ? found : await patch(found, { status: removals });
      if (pruned !== undefined && diff.isOutdated) await applyTo(pruned, { status }, FIELD_MANAGER);
      return diff.isDifferent;
    },
    removeViewLabel: async (found) => {
      await patch(found, { metadata: { labels: { [KUBE_LABEL.view]: null } } });
    },
    removeFinalizer: async (found, finalizer) => {
      const finalizers = (found.metadata.finalizers ?? []).filter((name) => name !== finalizer);
      await patch(found, { metadata: { finalizers } });
    },
    remove: async (found) => {
      await queue.run(() =>
        client.delete(resource, nameOf(found), { ...preconditionsOf(found), signal }).catch(ignoreNotFound),
      );
    },
  };
}

function nameOf({ metadata: { name, namespace } }: ViewObject): ObjectName {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** The write fails if the object was replaced or changed. */
function preconditionsOf({ metadata: { uid = "", resourceVersion = "" } }: ViewObject) {
  return { uid, resourceVersion };
}

function ignoreNotFound(error: unknown): undefined {
  if (error instanceof Fault && error.code === "not-found") return undefined;
  throw error;
}

/** The types of the builders guarantee the shape: DesiredObject, and the status of the kind. */
function asObject<T extends ViewObject>(fields: object): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no type says "a part of T that may be applied"
  return fields as T;
}
