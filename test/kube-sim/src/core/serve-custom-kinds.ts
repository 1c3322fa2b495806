import { createHash } from "node:crypto";
import type { ClusterCore } from "../api/create-cluster-api.ts";
import type { ResourceDefinition } from "../api/definition.ts";
import { definitionsOf } from "../crd/definitions-of.ts";
import type { JsonObject } from "../json.ts";
import { CUSTOM_RESOURCE_DEFINITIONS } from "./custom-resource-definitions.ts";

/** The kinds of a CustomResourceDefinition. */
export type ReadKinds = (crd: JsonObject) => readonly ResourceDefinition[];

/** Many clusters have the same kinds: their schemas and rules are compiled once and shared. */
export function sharedKinds(): ReadKinds {
  const known = new Map<string, readonly ResourceDefinition[]>();
  return (crd) => {
    const key = createHash("sha256")
      .update(JSON.stringify(crd["spec"] ?? null))
      .digest("base64");
    const kinds = known.get(key) ?? definitionsOf(crd);
    known.set(key, kinds);
    return kinds;
  };
}

/** From now on a stored CustomResourceDefinition is a kind that is served. */
export function serveCustomKinds(core: ClusterCore, readKinds: ReadKinds): () => void {
  return core.onChange(({ group, plural }, { before, after }) => {
    if (group !== CUSTOM_RESOURCE_DEFINITIONS.group || plural !== CUSTOM_RESOURCE_DEFINITIONS.plural) return;
    const old = before === undefined ? [] : readKinds(before);
    const current = after === undefined ? [] : readKinds(after);
    if (old === current) return;
    for (const kind of current) core.register(kind);
    for (const kind of old)
      if (!current.some(({ version }) => version === kind.version)) core.unregister(kind);
  });
}
