import type { ResourceDefinition } from "../../api/definition.ts";
import { apiVersionOf } from "../../api/registry.ts";
import type { JsonObject } from "../../json.ts";
import { compare } from "./compare.ts";
import { difference, isEmpty, NO_FIELDS, union } from "./field-set.ts";
import { isSameManager, type Manager, managersOf, withManager } from "./managers.ts";
import { ownable } from "./owned.ts";
import { shapeOf } from "./shape.ts";

export interface Update {
  readonly definition: ResourceDefinition;
  readonly old: JsonObject;
  readonly next: JsonObject;
  readonly isStatus: boolean;
  readonly fieldManager: string;
}

/**
 * Whoever writes a field without applying owns it from then on.
 * An object that was never applied has no book: the first apply finds everything owned by `before-first-apply`.
 */
export function trackUpdate({ definition, old, next, isStatus, fieldManager }: Update): readonly Manager[] {
  const managers = managersOf(old);
  if (managers.length === 0) return [];
  const scope = { hasStatus: definition.hasStatus, isStatus };
  const { changed, gone } = compare(ownable(old, scope), ownable(next, scope), shapeOf(definition));
  if (isEmpty(changed) && isEmpty(gone)) return managers;
  const me = {
    name: fieldManager,
    operation: "Update" as const,
    apiVersion: apiVersionOf(definition),
    subresource: isStatus ? "status" : "",
  };
  const last = managers.find((manager) => isSameManager(manager, me));
  const taken = union(changed, gone);
  const left = managers.map((manager) =>
    manager === last ? manager : { ...manager, fields: difference(manager.fields, taken) },
  );
  const mine = union(difference(last?.fields ?? NO_FIELDS, gone), changed);
  return withManager(left, { ...me, fields: mine });
}
