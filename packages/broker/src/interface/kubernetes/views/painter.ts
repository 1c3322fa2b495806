import { Fault, KUBE_LABEL } from "@resource-broker/contract";
import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import { FIELD_MANAGER } from "../ports.ts";
import type { Lane } from "./pace.ts";
import { type Shown, type SpecGap, specGap, type StatusShare, statusGap, type Wanted } from "./picture.ts";

export interface PainterOptions<T extends Shown> {
  readonly resource: Resource<T>;
  readonly share: StatusShare;
  /** Whose fields labels and spec are. */
  readonly specManager: string;
  /**
   * `apply`: an object of that name that has just come into being is overwritten, whoever made it. `create`: it is left
   * alone.
   */
  readonly birth: "create" | "apply";
}

export interface PainterDeps<T> {
  readonly client: Pick<KubeClient, "create" | "apply" | "patch" | "delete">;
  readonly lane: Lane;
  /** The server's answer to each write. */
  readonly wrote: (object: T) => void;
}

/** Writes pictures. Each write insists on the version it was planned for, so that nobody's word is lost. */
export interface Painter<T extends Shown> {
  /** The object as it is then; undefined: it is gone. */
  readonly paint: (wanted: Wanted<T>, found: T | undefined) => Promise<T | undefined>;
  /** True when there was something to write. */
  readonly paintStatus: (status: NonNullable<T["status"]>, found: T) => Promise<boolean>;
  /** From now on it is not the broker's any more. */
  readonly giveUp: (found: T) => Promise<void>;
  readonly remove: (found: T) => Promise<void>;
  /** Takes a finalizer off, so that what is being deleted can go. */
  readonly letGo: (found: T, finalizer: string) => Promise<void>;
}

export function painter<T extends Shown>(options: PainterOptions<T>, deps: PainterDeps<T>): Painter<T> {
  const { resource, share, specManager, birth } = options;
  const { client, lane } = deps;

  const told = (object: T): T => {
    deps.wrote(object);
    return object;
  };
  /** On an object that is there: that it is gone is news about that object alone. */
  const write = (call: () => Promise<T>): Promise<T | undefined> =>
    lane.run(() => call().then(told, unlessGone));

  const make = (wanted: Wanted<T>): Promise<T> => {
    const object = asObject<T>(wanted);
    const fieldManager = specManager;
    return lane.run(() =>
      birth === "create"
        ? client.create(resource, object, { fieldManager }).then(told)
        : client.apply(resource, object, { fieldManager, force: true }).then(told),
    );
  };

  const applySpec = (wanted: Wanted<T>, found: T): Promise<T | undefined> => {
    const { resourceVersion } = found.metadata;
    const object = asObject<T>({ ...wanted, metadata: { ...wanted.metadata, resourceVersion } });
    return write(() => client.apply(resource, object, { fieldManager: specManager, force: true }));
  };

  const prune = (found: T, part: "spec" | "status", gap: SpecGap): Promise<T | undefined> => {
    const { resourceVersion } = found.metadata;
    const body = { metadata: { resourceVersion }, [part]: gap.surplus };
    const where = part === "status" ? ({ subresource: "status" } as const) : {};
    const patch = { kind: "merge", body } as const;
    return write(() =>
      client.patch(resource, { name: nameOf(found), patch }, { fieldManager: FIELD_MANAGER, ...where }),
    );
  };

  const applyStatus = (status: object, found: T): Promise<T | undefined> => {
    const { apiVersion, kind, metadata } = found;
    const { resourceVersion } = metadata;
    const object = { apiVersion, kind, metadata: { ...nameOf(found), resourceVersion }, status };
    const how = { fieldManager: FIELD_MANAGER, force: true, subresource: "status" } as const;
    return write(() => client.apply(resource, asObject<T>(object), how));
  };

  return {
    paint: async (wanted, found) => {
      if (found === undefined) return make(wanted);
      const gap = specGap(wanted, found);
      const pruned = gap.surplus === undefined ? found : await prune(found, "spec", gap);
      return pruned === undefined || !gap.isBehind ? pruned : applySpec(wanted, pruned);
    },
    paintStatus: async (status, found) => {
      const gap = statusGap(status, found.status ?? {}, share);
      const pruned = gap.surplus === undefined ? found : await prune(found, "status", gap);
      if (pruned !== undefined && gap.isBehind) await applyStatus(status, pruned);
      return gap.isOpen;
    },
    giveUp: async (found) => {
      const { resourceVersion } = found.metadata;
      const body = { metadata: { resourceVersion, labels: { [KUBE_LABEL.view]: null } } };
      const change = { name: nameOf(found), patch: { kind: "merge", body } } as const;
      await write(() => client.patch(resource, change, { fieldManager: FIELD_MANAGER }));
    },
    letGo: async (found, finalizer) => {
      const { resourceVersion, finalizers = [] } = found.metadata;
      const left = finalizers.filter((name) => name !== finalizer);
      const body = { metadata: { resourceVersion, finalizers: left } };
      const change = { name: nameOf(found), patch: { kind: "merge", body } } as const;
      await write(() => client.patch(resource, change, { fieldManager: FIELD_MANAGER }));
    },
    remove: async (found) => {
      const { uid = "", resourceVersion = "" } = found.metadata;
      await lane.run(() =>
        client.delete(resource, nameOf(found), { uid, resourceVersion }).catch(unlessGone),
      );
    },
  };
}

function nameOf({ metadata: { name, namespace } }: Shown): ObjectName {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Fault && error.code === "not-found") return undefined;
  throw error;
}

/** For all that is written here the types of the builders vouch: `Wanted`, and the status of the kind. */
function asObject<T extends Shown>(fields: object): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no type says "T without what the server adds"
  return fields as T;
}
