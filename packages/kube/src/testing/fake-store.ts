import { Fault, isRecord } from "@resource-broker/base";
import type { Patch } from "../client/client.ts";
import type { ObjectName, Resource } from "../resource/resource.ts";

export interface FakeObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
}

export interface FakeChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: FakeObject;
  readonly version: number;
}

/** The objects of one fake API server, with versions and as much of their history as was not compacted. */
export interface FakeStore {
  readonly version: () => number;
  readonly compactedTo: () => number;
  readonly objects: (resource: Resource<unknown>) => readonly FakeObject[];
  readonly find: (resource: Resource<unknown>, name: ObjectName) => FakeObject | undefined;
  readonly get: (resource: Resource<unknown>, name: ObjectName) => FakeObject;
  /** The first change of a resource after a version, where it is still known. */
  readonly changeAfter: (resource: Resource<unknown>, version: number) => FakeChange | undefined;
  /** The version of the newest change of a resource, known still or not. */
  readonly newestChange: (resource: Resource<unknown>) => number;
  readonly create: (resource: Resource<unknown>, object: object) => FakeObject;
  readonly update: (resource: Resource<unknown>, object: object) => FakeObject;
  readonly patch: (resource: Resource<unknown>, name: ObjectName, patch: Patch) => FakeObject;
  readonly delete: (resource: Resource<unknown>, name: ObjectName, only?: Partial<Identity>) => void;
  readonly compact: () => void;
  readonly onChange: (listener: () => void) => void;
}

interface Identity {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

interface Table {
  readonly objects: Map<string, FakeObject>;
  history: FakeChange[];
  newest: number;
}

export function fakeStore(): FakeStore {
  let version = 1000;
  let compactedTo = 0;
  const tables = new Map<string, Table>();
  const listeners: (() => void)[] = [];

  const tableOf = ({ group, plural }: Resource<unknown>): Table => {
    const name = `${plural}.${group}`;
    const table = tables.get(name) ?? { objects: new Map<string, FakeObject>(), history: [], newest: 0 };
    tables.set(name, table);
    return table;
  };
  const get: FakeStore["get"] = (resource, name) => {
    const object = tableOf(resource).objects.get(keyOf(name));
    if (object === undefined) throw new Fault("not-found", `${resource.plural} "${name.name}" not found`);
    return object;
  };
  const write = (resource: Resource<unknown>, type: FakeChange["type"], object: FakeObject): FakeObject => {
    version++;
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const table = tableOf(resource);
    if (type === "DELETED") table.objects.delete(keyOf(object.metadata));
    else table.objects.set(keyOf(object.metadata), written);
    table.history.push({ type, object: written, version });
    table.newest = version;
    for (const listener of listeners) listener();
    return written;
  };
  const replace = (resource: Resource<unknown>, object: FakeObject): FakeObject => {
    const { uid, resourceVersion } = object.metadata;
    // As the API server: an update may create a Lease, and what is created has no version.
    if (resource.plural === "leases" && !tableOf(resource).objects.has(keyOf(object.metadata)))
      throw new Fault("internal", "resourceVersion should not be set on objects to be created");
    const known = get(resource, object.metadata);
    expectSame(resource, known, {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    });
    const metadata = { ...object.metadata, uid: known.metadata.uid ?? "" };
    return write(resource, "MODIFIED", { ...object, metadata });
  };

  return {
    version: () => version,
    compactedTo: () => compactedTo,
    objects: (resource) => [...tableOf(resource).objects.values()],
    find: (resource, name) => tableOf(resource).objects.get(keyOf(name)),
    get,
    changeAfter: (resource, after) => tableOf(resource).history.find((change) => change.version > after),
    newestChange: (resource) => tableOf(resource).newest,
    create: (resource, object) => {
      const made = structuredClone(object) as FakeObject;
      if (tableOf(resource).objects.has(keyOf(made.metadata))) {
        throw new Fault("already-exists", `${resource.plural} "${made.metadata.name}" already exists`);
      }
      return write(resource, "ADDED", { ...made, metadata: { ...made.metadata, uid: `uid-${version}` } });
    },
    update: (resource, object) => replace(resource, structuredClone(object) as FakeObject),
    patch: (resource, name, patch) => {
      if (patch.kind !== "merge") throw new Fault("unsupported", `the fake knows no ${patch.kind} patch`);
      return replace(resource, merge(get(resource, name), patch.body) as FakeObject);
    },
    delete: (resource, name, only = {}) => {
      const object = get(resource, name);
      expectSame(resource, object, only);
      write(resource, "DELETED", object);
    },
    compact: () => {
      compactedTo = version;
      for (const table of tables.values()) table.history = [];
    },
    onChange: (listener) => listeners.push(listener),
  };
}

function keyOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function expectSame(resource: Resource<unknown>, { metadata }: FakeObject, wanted: Partial<Identity>): void {
  const isSame =
    (wanted.uid === undefined || wanted.uid === metadata.uid) &&
    (wanted.resourceVersion === undefined || wanted.resourceVersion === metadata.resourceVersion);
  if (!isSame) throw new Fault("conflict", `${resource.plural} "${metadata.name}" has been modified`);
}

/** RFC 7396. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return structuredClone(patch);
  const merged: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}
