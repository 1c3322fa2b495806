import type { Store } from "../store/store.ts";
import type { ResourceDefinition, Target } from "./cluster-api.ts";

/** What every verb works on. */
export interface ApiContext {
  readonly store: Store;
  readonly registry: Registry;
  readonly wallMs: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
}

/** The kinds that are served now. */
export interface Registry {
  readonly definitions: () => readonly ResourceDefinition[];
  /** A definition of the same group, version and plural is replaced. */
  readonly add: (definition: ResourceDefinition) => void;
  readonly remove: (definition: ResourceDefinition) => void;
  /** Some version of what lies in the store under this name. */
  readonly byResource: (resource: string) => ResourceDefinition | undefined;
  /** The kind an owner reference names; any version of it will do. */
  readonly byKind: (apiVersion: string, kind: string) => ResourceDefinition | undefined;
}

export function createRegistry(): Registry {
  let known: readonly ResourceDefinition[] = [];
  let byResource = new Map<string, ResourceDefinition>();
  const become = (definitions: readonly ResourceDefinition[]) => {
    known = definitions.toSorted(
      (a, b) => a.group.localeCompare(b.group) || a.plural.localeCompare(b.plural),
    );
    byResource = new Map(known.map((definition) => [resourceOf(definition), definition]));
  };
  return {
    definitions: () => known,
    add: (definition) => {
      const at = known.findIndex((other) => isSameVersion(other, definition));
      become(at < 0 ? [...known, definition] : known.with(at, definition));
    },
    remove: (definition) => become(known.filter((other) => !isSameVersion(other, definition))),
    byResource: (resource) => byResource.get(resource),
    byKind: (apiVersion, kind) => {
      const [version, group] = apiVersion.split("/").toReversed();
      const sameKind = known.filter((other) => other.group === (group ?? "") && other.kind === kind);
      return sameKind.find((other) => other.version === version) ?? sameKind[0];
    },
  };
}

function isSameVersion(a: ResourceDefinition, b: ResourceDefinition): boolean {
  return a.group === b.group && a.plural === b.plural && a.version === b.version;
}

/** Where objects of the kind lie in the store, whatever their version: `pods`, `leases.coordination.k8s.io`. */
export function resourceOf({ group, plural }: Pick<ResourceDefinition, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

export function apiVersionOf({ group, version }: Pick<ResourceDefinition, "group" | "version">): string {
  return group === "" ? version : `${group}/${version}`;
}

export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** Where an object lies in the store. */
export function placeOf({ definition, namespace, name }: Target): readonly [resource: string, key: string] {
  return [resourceOf(definition), keyOf(definition.isNamespaced ? namespace : "", name)];
}

/** True for the kinds that the server itself knows; only these have strategic merge patches. */
export function isBuiltIn({ mergeKeys }: ResourceDefinition): boolean {
  return mergeKeys !== undefined;
}

/** `2026-01-05T12:00:00Z`: metadata knows no fractions of a second. */
export function timestamp(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`;
}
