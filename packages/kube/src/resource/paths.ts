import { Fault } from "@resource-broker/contract";
import type { ObjectName, Resource, Subresource } from "./resource.ts";

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

/** Where one object is. */
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
