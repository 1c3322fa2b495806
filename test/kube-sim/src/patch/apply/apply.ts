import type { ResourceDefinition } from "../../api/cluster-api.ts";
import { apiVersionOf } from "../../api/registry.ts";
import { applyConflict } from "../../api/statuses.ts";
import {
  isList,
  isObject,
  isSame,
  type JsonObject,
  type JsonValue,
  metadataOf,
  without,
} from "../../json.ts";
import {
  difference,
  type FieldSet,
  fieldsOf,
  isBelow,
  keysIn,
  partsOf,
  type Path,
  pathText,
  pathTo,
  type Shape,
  shapeOf,
  stepsOf,
  union,
} from "./fields.ts";
import { isSameManager, type Manager, managersOf, managerText, withManager } from "./managers.ts";

/** Who writes, through which path, to an object of which kind. */
export interface Writing {
  readonly definition: ResourceDefinition;
  readonly isStatus: boolean;
  readonly fieldManager: string;
}

export interface Applied {
  readonly object: JsonObject;
  readonly managers: readonly Manager[];
}

const NO_FIELDS: FieldSet = new Set();
/** Who owned everything when an object that nobody kept book of was first applied. */
const BEFORE_FIRST_APPLY = "before-first-apply";
/** Fields that the server keeps and nobody owns. */
const SERVER_FIELDS = [
  "name",
  "namespace",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "uid",
  "generation",
  "managedFields",
  "resourceVersion",
];

/** Lays a configuration over a live object (absent: there is none yet) and keeps the book of who owns what. */
export function applyConfiguration(
  live: JsonObject | undefined,
  config: JsonObject,
  writing: Writing & { readonly force: boolean },
): Applied {
  const { definition, isStatus, force } = writing;
  const shape = shapeOf(definition);
  const wanted = ownable(config, definition.hasStatus, isStatus);
  const mine = { ...writerOf(writing, "Apply"), fields: new Set(fieldsOf(wanted, shape).keys()) };
  if (live === undefined) return { object: config, managers: [mine] };
  const known = initialManagers(live, writing, shape);
  const laid = asObject(merged(live, wanted, shape));
  const { changed } = compare(live, laid, shape);
  const others = known.filter((manager) => !isSameManager(manager, mine));
  if (!force) checkConflicts(others, changed);
  const left = known.map((manager) => (others.includes(manager) ? lessFields(manager, changed) : manager));
  const last = known.find((manager) => isSameManager(manager, mine))?.fields ?? NO_FIELDS;
  const kept = left
    .filter((manager) => !isSameManager(manager, mine))
    .reduce<FieldSet>((sum, { fields }) => union(sum, fields), mine.fields);
  const object = asObject(pruner(difference(last, kept), kept)(laid, shape));
  return { object, managers: withManager(left, mine) };
}

/**
 * Whoever writes a field without applying owns it from then on.
 * An object that was never applied has no book: the first apply finds everything owned by `before-first-apply`.
 */
export function trackUpdate(old: JsonObject, next: JsonObject, writing: Writing): readonly Manager[] {
  const { definition, isStatus } = writing;
  const managers = managersOf(old);
  if (managers.length === 0) return [];
  const part = (object: JsonObject) => ownable(object, definition.hasStatus, isStatus);
  const { changed, gone } = compare(part(old), part(next), shapeOf(definition));
  if (changed.size + gone.size === 0) return managers;
  const me = writerOf(writing, "Update");
  const last = managers.find((manager) => isSameManager(manager, me));
  const taken = union(changed, gone);
  const left = managers.map((manager) => (manager === last ? manager : lessFields(manager, taken)));
  const fields = union(difference(last?.fields ?? NO_FIELDS, gone), changed);
  return withManager(left, { ...me, fields });
}

function writerOf(
  { definition, isStatus, fieldManager }: Writing,
  operation: Manager["operation"],
): Omit<Manager, "fields"> {
  const subresource = isStatus ? "status" : "";
  return { name: fieldManager, operation, apiVersion: apiVersionOf(definition), subresource };
}

/** The part of an object whose fields a write through this path may own. */
function ownable(object: JsonObject, hasStatus: boolean, isStatus: boolean): JsonObject {
  if (isStatus) return without({ status: object["status"] });
  const metadata = without(metadataOf(object), ...SERVER_FIELDS);
  return without({
    ...without(object, "apiVersion", "kind", ...(hasStatus ? ["status"] : [])),
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  });
}

interface Difference {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet;
  readonly gone: FieldSet;
}

function compare(old: JsonObject, next: JsonObject, shape: Shape): Difference {
  const before = fieldsOf(old, shape);
  const after = fieldsOf(next, shape);
  const isNew = (path: Path) => !before.has(path) || !isSame(before.get(path), after.get(path));
  return {
    changed: new Set([...after.keys()].filter(isNew)),
    gone: new Set([...before.keys()].filter((path) => !after.has(path))),
  };
}

function initialManagers(live: JsonObject, writing: Writing, shape: Shape): readonly Manager[] {
  const managers = managersOf(live);
  if (managers.length > 0) return managers;
  const fields = new Set(fieldsOf(ownable(live, false, false), shape).keys());
  const first = { ...writing, isStatus: false, fieldManager: BEFORE_FIRST_APPLY };
  return [{ ...writerOf(first, "Update"), fields }];
}

function lessFields(manager: Manager, taken: FieldSet): Manager {
  return { ...manager, fields: difference(manager.fields, taken) };
}

/** The others lose the fields that change: unless forced, that they own one is a conflict. */
function checkConflicts(others: readonly Manager[], changed: FieldSet): void {
  const conflicts = others.flatMap((manager) => {
    const paths = [...manager.fields].filter((path) => changed.has(path)).map(pathText);
    return paths.toSorted().map((path) => ({ who: managerText(manager), path }));
  });
  const [first] = conflicts;
  if (first === undefined) return;
  const causes = conflicts.map(({ who, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${who}`,
    field: path,
  }));
  if (conflicts.length === 1)
    throw applyConflict(`Apply failed with 1 conflict: conflict with ${first.who}: ${first.path}`, causes);
  const lines = [...new Set(conflicts.map(({ who }) => who))]
    .toSorted()
    .flatMap((owner) => [
      `conflicts with ${owner}:`,
      ...conflicts.filter(({ who }) => who === owner).map(({ path }) => `- ${path}`),
    ]);
  throw applyConflict(`Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`, causes);
}

function asObject(value: JsonObject[string]): JsonObject {
  return isObject(value) ? value : {};
}

/** The live value with what is applied laid over it. */
function merged(live: JsonValue | undefined, applied: JsonValue, shape: Shape): JsonValue {
  const before = live === undefined ? undefined : partsOf(live, shape);
  const wanted = partsOf(applied, shape);
  if (before === undefined || wanted === undefined || isList(live) !== isList(applied)) return applied;
  const parts = new Map<string, JsonValue>();
  for (const step of order([...before.keys()], [...wanted.keys()])) {
    const part = wanted.get(step);
    const old = before.get(step);
    const next = part === undefined ? old : merged(old, part, shape.at(step));
    if (next !== undefined) parts.set(step, next);
  }
  return assembled(parts, applied);
}

/** What is applied comes in its own order; what only lives stays behind what it stood behind. */
function order(live: readonly string[], wanted: readonly string[]): ReadonlySet<string> {
  const placed = new Set<string>();
  const queue = [...wanted];
  for (const step of live) {
    if (!wanted.includes(step)) placed.add(step);
    else while (!placed.has(step) && queue.length > 0) placed.add(queue.shift() ?? step);
  }
  return new Set([...placed, ...queue]);
}

function assembled(parts: ReadonlyMap<string, JsonValue>, like: JsonValue): JsonValue {
  if (isList(like)) return [...parts.values()];
  return Object.fromEntries([...parts].map(([step, part]) => [step.slice(2), part]));
}

/** Takes these fields from values, but nothing that somebody keeps, nor what holds it. */
function pruner(gone: FieldSet, kept: FieldSet): (value: JsonValue, shape: Shape) => JsonValue | undefined {
  const going = [...gone].filter((path) => !isItemKey(path));
  const isKept = (path: Path): boolean => kept.has(path) || [...kept].some((each) => isBelow(each, path));
  /** Undefined: nothing is left. What is emptied goes too. */
  const prune = (value: JsonValue, shape: Shape, path: Path): JsonValue | undefined => {
    if (going.includes(path) && !isKept(path)) return undefined;
    const parts = going.some((each) => isBelow(each, path)) ? partsOf(value, shape) : undefined;
    if (parts === undefined) return value;
    const left = [...parts].flatMap(([step, part]) => {
      const rest = prune(part, shape.at(step), pathTo(path, step));
      return rest === undefined ? [] : [[step, rest] as const];
    });
    return left.length === 0 && !kept.has(path) ? undefined : assembled(new Map(left), value);
  };
  return (value, shape) => prune(value, shape, "");
}

/** An item that stays keeps the fields by which it is known. */
function isItemKey(path: Path): boolean {
  const [item = "", field = ""] = stepsOf(path).slice(-2);
  return Object.hasOwn(keysIn(item), field.slice(2));
}
