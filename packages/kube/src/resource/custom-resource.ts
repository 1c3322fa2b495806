import type { Kind, KubernetesObject } from "@resource-broker/contract";
import type { Resource } from "./resource.ts";

/** One of the project's own kinds, all of which are namespaced. */
export function customResource<Spec, Status>(
  kind: Kind<Spec, Status>,
): Resource<KubernetesObject<Spec, Status>> {
  return {
    group: kind.group,
    version: kind.version,
    kind: kind.kind,
    plural: kind.plural,
    isNamespaced: true,
  };
}
