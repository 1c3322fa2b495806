import { Fault, KUBE_LABEL } from "@resource-broker/contract";
import type { KubeClient, ObjectName, Resource } from "@resource-broker/kube";
import { FIELD_MANAGER } from "../ports.ts";
import type { Fields } from "./gap.ts";
import type { Lane } from "./pace.ts";
import {
  isBehind,
  type Layer,
  type Shown,
  specSurplus,
  type StatusShare,
  statusGap,
  type Wanted,
} from "./picture.ts";

export interface PainterOptions<T extends Shown> {
  readonly resource: Resource<T>;
  readonly share: StatusShare;
  /** Parts of labels and spec; each is applied with its own field manager. */
  readonly layers: readonly Layer<T>[];
  /** Creates a minimal valid object; the layers are applied afterwards. */
  readonly create: (wanted: Wanted<T>) => Promise<T>;
}

export interface PainterDeps<T> {
  readonly client: Pick<KubeClient, "apply" | "patch" | "delete">;
  readonly lane: Lane;
  /** Gives up what is under way. */
  readonly signal: AbortSignal;
  /** The server's answer to each write. */
  readonly wrote: (object: T) => void;
}

/** Writes views. Each write requires the planned resourceVersion, so that no other write is lost. */
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
  const { resource, share, layers } = options;
  const { client, lane, signal } = deps;

  const told = (object: T): T => {
    deps.wrote(object);
    return object;
  };
  /** A write to an existing object. `not-found` means that this object was deleted, and is not a server fault. */
  const write = (call: () => Promise<T>): Promise<T | undefined> =>
    lane.run(() => call().then(told, unlessGone));

  const applyTo = (
    found: T,
    { labels, ...parts }: { readonly labels?: Fields; readonly spec?: object; readonly status?: object },
    fieldManager: string,
  ): Promise<T | undefined> => {
    const { apiVersion, kind } = found;
    const metadata = { ...nameOf(found), ...identityOf(found), ...(labels === undefined ? {} : { labels }) };
    const object = asObject<T>({ apiVersion, kind, metadata, ...parts });
    const where = parts.status === undefined ? {} : ({ subresource: "status" } as const);
    return write(() => client.apply(resource, object, { fieldManager, force: true, signal, ...where }));
  };
  const patch = (found: T, { metadata, ...parts }: Change): Promise<T | undefined> => {
    const body = { metadata: { ...identityOf(found), ...metadata }, ...parts };
    const where = parts.status === undefined ? {} : ({ subresource: "status" } as const);
    return write(() =>
      client.patch(
        resource,
        { name: nameOf(found), patch: { kind: "merge", body } },
        { fieldManager: FIELD_MANAGER, signal, ...where },
      ),
    );
  };

  const paint: Painter<T>["paint"] = async (wanted, found) => {
    let now = found ?? told(await lane.run(() => options.create(wanted)));
    const surplus = specSurplus(wanted, now);
    const pruned = surplus === undefined ? now : await patch(now, { spec: surplus });
    if (pruned === undefined) return undefined;
    now = pruned;
    for (const { fieldManager, partOf } of layers) {
      const part = partOf(wanted);
      if (!isBehind(part, now)) continue;
      const painted = await applyTo(now, part, fieldManager);
      if (painted === undefined) return undefined;
      now = painted;
    }
    return now;
  };

  return {
    paint,
    paintStatus: async (status, found) => {
      const gap = statusGap(status, found.status ?? {}, share);
      const { surplus } = gap;
      const pruned = surplus === undefined ? found : await patch(found, { status: surplus });
      if (pruned !== undefined && gap.isBehind) await applyTo(pruned, { status }, FIELD_MANAGER);
      return gap.isOpen;
    },
    giveUp: async (found) => {
      await patch(found, { metadata: { labels: { [KUBE_LABEL.view]: null } } });
    },
    letGo: async (found, finalizer) => {
      const finalizers = (found.metadata.finalizers ?? []).filter((name) => name !== finalizer);
      await patch(found, { metadata: { finalizers } });
    },
    remove: async (found) => {
      await lane.run(() =>
        client.delete(resource, nameOf(found), { ...identityOf(found), signal }).catch(unlessGone),
      );
    },
  };
}

/** A merge patch: of the status, or of all else. */
interface Change {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

function nameOf({ metadata: { name, namespace } }: Shown): ObjectName {
  return { name, ...(namespace === undefined ? {} : { namespace }) };
}

/** That very object, in that very state. */
function identityOf({ metadata: { uid = "", resourceVersion = "" } }: Shown) {
  return { uid, resourceVersion };
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Fault && error.code === "not-found") return undefined;
  throw error;
}

/** The types of the builders guarantee the shape: DesiredObject, and the status of the kind. */
function asObject<T extends Shown>(fields: object): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no type says "a part of T that may be applied"
  return fields as T;
}
