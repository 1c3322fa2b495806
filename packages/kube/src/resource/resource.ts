import { Fault } from "@resource-broker/base";
import type { MessageFields } from "../protobuf/fields.ts";

/** A resource of an API server, and the type of its objects. */
export interface Resource<T> {
  /** "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** True: a create-only review that is answered and never stored; it has no name. */
  readonly isQuestion?: boolean;
  /** Lists and watches use protobuf, and only these fields are decoded. Absent: JSON. */
  readonly protobuf?: MessageFields;
  /** Never set: it carries the type. */
  readonly example?: T;
}

/** A part of an object with a path of its own. `token`, of a service account, is created only. */
export type Subresource = "status" | "token";

/** Names one object; `namespace` belongs to namespaced kinds only. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

/** The names of a namespaced kind that a CRD defines; `object` is never set and carries the type. */
export interface CustomKind<T> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly object?: T;
}

export function customResource<T>(kind: CustomKind<T>): Resource<T> {
  const { group, version, plural } = kind;
  return { group, version, kind: kind.kind, plural, isNamespaced: true };
}

/** Where the objects of a resource are: of one namespace, or of all. */
export function collectionPath(resource: Resource<unknown>, namespace?: string): string {
  const root =
    resource.group === ""
      ? `/api/${segment(resource, "version", resource.version)}`
      : `/apis/${segment(resource, "group", resource.group)}/${segment(resource, "version", resource.version)}`;
  const plural = segment(resource, "plural", resource.plural);
  if (namespace === undefined) return `${root}/${plural}`;
  if (!resource.isNamespaced) {
    throw new Fault("invalid", `${resource.kind} is not namespaced: leave the namespace ${namespace} out`);
  }
  return `${root}/namespaces/${segment(resource, "namespace", namespace)}/${plural}`;
}

export function objectPath(
  resource: Resource<unknown>,
  { name, namespace }: ObjectName,
  subresource?: Subresource,
): string {
  if (resource.isNamespaced && namespace === undefined) {
    throw new Fault("invalid", `${resource.kind} ${name} needs a namespace`);
  }
  const path = `${collectionPath(resource, namespace)}/${segment(resource, "name", name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Kubernetes allows neither of these in a name; in a path they would lead to another object. */
function segment(resource: Resource<unknown>, what: string, text: string): string {
  if (text === "" || text === "." || text === ".." || /[/%\p{Surrogate}]/u.test(text)) {
    throw new Fault(
      "invalid",
      `${JSON.stringify(text)} is no ${what} for ${resource.kind}: it must not be empty, "." or "..", nor contain "/" or "%"`,
    );
  }
  return encodeURIComponent(text);
}
