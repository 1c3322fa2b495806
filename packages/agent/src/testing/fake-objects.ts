import { Fault, type ObjectMeta } from "@resource-broker/base";
import type { ObjectName, Resource } from "@resource-broker/kube";

export interface FakeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly spec?: object;
  readonly status?: object;
}

export interface FakeChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly plural: string;
  readonly object: FakeObject;
  readonly version: number;
}

/** Fields that no update may change, as the CRDs say. */
const IMMUTABLE: Readonly<Record<string, readonly string[]>> = {
  reservationinstructions: ["reservationName", "targetClusterID"],
  providerinstructions: ["reservationName", "requesterClusterID"],
};

export interface FakeKinds {
  /** True: the CRDs of an older release, which let people edit a request whose resources are reserved. */
  readonly areOlder?: boolean;
}

/** The objects of one cluster, their history, and as much of Kubernetes' rules as the agent meets. */
export function fakeObjects({ areOlder = false }: FakeKinds = {}) {
  const tables = new Map<string, Map<string, FakeObject>>();
  const history: FakeChange[] = [];
  const listeners: ((change: FakeChange) => void)[] = [];
  let version = 1000;
  let made = 0;

  const tableOf = (plural: string): Map<string, FakeObject> => {
    const table = tables.get(plural) ?? new Map<string, FakeObject>();
    tables.set(plural, table);
    return table;
  };
  const get = ({ plural }: Resource<unknown>, name: ObjectName): FakeObject => {
    const object = tableOf(plural).get(keyOf(name));
    if (object === undefined) throw new Fault("not-found", `${plural} "${name.name}" not found`);
    return object;
  };
  const write = (plural: string, type: FakeChange["type"], object: FakeObject): FakeObject => {
    version++;
    const written = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type === "DELETED") tableOf(plural).delete(keyOf(object.metadata));
    else tableOf(plural).set(keyOf(object.metadata), written);
    const change = { type, plural, object: written, version };
    history.push(change);
    for (const listener of listeners) listener(change);
    return written;
  };
  const deleteNow = (plural: string, object: FakeObject): void => {
    write(plural, "DELETED", object);
    removeOwnedBy(object.metadata.uid ?? "");
  };
  const removeOwnedBy = (uid: string): void => {
    for (const [plural, table] of tables) {
      for (const object of table.values()) {
        if (object.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true) {
          write(plural, "DELETED", object);
        }
      }
    }
  };

  return {
    history,
    find: (plural: string, name: ObjectName): FakeObject | undefined => tableOf(plural).get(keyOf(name)),
    get,
    all: (plural: string): FakeObject[] => [...tableOf(plural).values()],
    create: ({ plural }: Resource<unknown>, object: FakeObject): FakeObject => {
      if (tableOf(plural).has(keyOf(object.metadata))) {
        throw new Fault("already-exists", `${plural} "${object.metadata.name}" already exists`);
      }
      made++;
      const uid = object.metadata.uid ?? `00000000-0000-4000-8000-${String(made).padStart(12, "0")}`;
      return write(plural, "ADDED", { ...object, metadata: { ...object.metadata, uid, generation: 1 } });
    },
    /** Keeps identity; a changed spec is a new generation. */
    replace: (resource: Resource<unknown>, object: FakeObject): FakeObject => {
      const known = get(resource, object.metadata);
      const isNewSpec = JSON.stringify(known.spec) !== JSON.stringify(object.spec);
      expectAllowed(resource.plural, known, object);
      if (isNewSpec && !areOlder && isFixed(known)) {
        throw new Fault("invalid", "spec: resources are already reserved for this request, or it has ended");
      }
      if (JSON.stringify(withoutVersion(known)) === JSON.stringify(withoutVersion(object))) return known;
      const { uid = "", generation = 0 } = known.metadata;
      const metadata = { ...object.metadata, uid, generation: generation + (isNewSpec ? 1 : 0) };
      if (!isReleased(metadata)) return write(resource.plural, "MODIFIED", { ...object, metadata });
      deleteNow(resource.plural, { ...object, metadata });
      return { ...object, metadata };
    },
    /** What has finalizers goes when the last of them is gone; what it owns goes with it, as the garbage collector does. */
    remove: (resource: Resource<unknown>, name: ObjectName): void => {
      const object = get(resource, name);
      if ((object.metadata.finalizers ?? []).length === 0) return deleteNow(resource.plural, object);
      const { deletionTimestamp = "2026-07-01T10:00:00Z" } = object.metadata;
      const metadata = { ...object.metadata, deletionTimestamp };
      if (object.metadata.deletionTimestamp === undefined) {
        write(resource.plural, "MODIFIED", { ...object, metadata });
      }
    },
    onChange: (listener: (change: FakeChange) => void): void => void listeners.push(listener),
  };
}

function keyOf({ namespace, name }: ObjectName): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** It was deleted, and nobody holds on to it any more. */
function isReleased({ deletionTimestamp, finalizers = [] }: ObjectMeta): boolean {
  return deletionTimestamp !== undefined && finalizers.length === 0;
}

function expectAllowed(plural: string, before: FakeObject, after: FakeObject): void {
  for (const field of IMMUTABLE[plural] ?? []) {
    if (fieldOf(before, field) !== fieldOf(after, field)) {
      throw new Fault("invalid", `spec.${field}: ${field} cannot be changed`);
    }
  }
}

function isFixed({ kind, status }: FakeObject): boolean {
  const { phase = "Pending" } = (status ?? {}) as { phase?: string };
  return kind === "ResourceRequest" && phase !== "Pending";
}

function fieldOf({ spec }: FakeObject, name: string): unknown {
  return (spec as Readonly<Record<string, unknown>> | undefined)?.[name];
}

function withoutVersion({ metadata, ...rest }: FakeObject): object {
  return { ...rest, metadata: { ...metadata, resourceVersion: undefined } };
}
