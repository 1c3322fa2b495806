import type { ResourceDefinition } from "../../api/definition.ts";
import { apiVersionOf } from "../../api/registry.ts";
import { applyConflict } from "../../api/statuses.ts";
import type { JsonObject } from "../../json.ts";
import { compare, fieldsOf } from "./compare.ts";
import { difference, type FieldSet, intersection, NO_FIELDS, pathsOf, pathText, union } from "./field-set.ts";
import { isSameManager, type Manager, managersOf, managerText, withManager } from "./managers.ts";
import { asObject, merged, pruned } from "./merge.ts";
import { ownable } from "./owned.ts";
import { type Shape, shapeOf } from "./shape.ts";

export interface Applying {
  readonly definition: ResourceDefinition;
  readonly isStatus: boolean;
  readonly fieldManager: string;
  readonly force: boolean;
}

export interface Applied {
  readonly object: JsonObject;
  readonly managers: readonly Manager[];
}

/** Who owned everything when an object that nobody kept book of was first applied. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/** Lays a configuration over a live object (absent: there is none yet) and keeps the book of who owns what. */
export function applyConfiguration(
  live: JsonObject | undefined,
  config: JsonObject,
  applying: Applying,
): Applied {
  const { definition, isStatus } = applying;
  const shape = shapeOf(definition);
  const wanted = ownable(config, { hasStatus: definition.hasStatus, isStatus });
  const me = self(applying);
  const mine = { ...me, fields: fieldsOfRoot(wanted, shape) };
  if (live === undefined) return { object: config, managers: [mine] };
  const known = initialManagers(live, applying, shape);
  const laid = asObject(merged(live, wanted, shape));
  const { changed } = compare(live, laid, shape);
  const left = settled(known, changed, { me, force: applying.force });
  const last = left.find((manager) => isSameManager(manager, me))?.fields ?? NO_FIELDS;
  const kept = left
    .filter((manager) => !isSameManager(manager, me))
    .reduce((sum, { fields }) => union(sum, fields), mine.fields);
  const object = asObject(pruned(laid, { fields: difference(last, kept), kept }, shape));
  return { object, managers: withManager(left, mine) };
}

function self({ definition, isStatus, fieldManager }: Applying): Omit<Manager, "fields"> {
  return {
    name: fieldManager,
    operation: "Apply",
    apiVersion: apiVersionOf(definition),
    subresource: isStatus ? "status" : "",
  };
}

function fieldsOfRoot(object: JsonObject, shape: Shape): FieldSet {
  return { ...fieldsOf(object, shape), isMember: false };
}

function initialManagers(live: JsonObject, { definition }: Applying, shape: Shape): readonly Manager[] {
  const managers = managersOf(live);
  if (managers.length > 0) return managers;
  const everything = ownable(live, { hasStatus: false, isStatus: false });
  const apiVersion = apiVersionOf(definition);
  const fields = fieldsOfRoot(everything, shape);
  return [{ name: BEFORE_FIRST_APPLY, operation: "Update", apiVersion, subresource: "", fields }];
}

interface Claim {
  readonly me: Omit<Manager, "fields">;
  readonly force: boolean;
}

/** The others lose the fields that change; unless forced, that they own one is a conflict. */
function settled(known: readonly Manager[], changed: FieldSet, { me, force }: Claim): readonly Manager[] {
  const clashes = known.map((manager) => ({
    manager,
    fields: isSameManager(manager, me) ? NO_FIELDS : intersection(manager.fields, changed),
  }));
  const conflicts = clashes.flatMap(({ manager, fields }) =>
    pathsOf(fields).map((path) => ({ manager, path: pathText(path) })),
  );
  if (conflicts.length > 0 && !force) throw conflictOf(conflicts);
  return clashes.map(({ manager, fields }) => ({ ...manager, fields: difference(manager.fields, fields) }));
}

interface Conflict {
  readonly manager: Manager;
  readonly path: string;
}

function conflictOf(conflicts: readonly Conflict[]): Error {
  const causes = conflicts.map(({ manager, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${managerText(manager)}`,
    field: path,
  }));
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    const text = `conflict with ${managerText(first.manager)}: ${first.path}`;
    return applyConflict(`Apply failed with 1 conflict: ${text}`, causes);
  }
  const names = [...new Set(conflicts.map(({ manager }) => managerText(manager)))].toSorted();
  const lines = names.flatMap((name) => [
    `conflicts with ${name}:`,
    ...conflicts.filter(({ manager }) => managerText(manager) === name).map(({ path }) => `- ${path}`),
  ]);
  return applyConflict(`Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`, causes);
}
