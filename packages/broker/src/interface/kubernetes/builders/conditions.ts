import { formatTime, type ObjectMeta } from "@resource-broker/base";
import { fitToSchema, type Schema } from "@resource-broker/contract";
import type { Condition } from "@resource-broker/contract/crd";
import type { Instant } from "@resource-broker/domain";

/** A condition without its transition time, which is taken from the current status. */
export type DesiredCondition = Pick<Condition, "type" | "status" | "reason" | "message">;

/** Makes conditions of one type. */
export function conditionMaker(
  type: string,
): (status: Condition["status"], reason: string, message: string) => DesiredCondition {
  return (status, reason, message) => ({ type, status, reason, message });
}

interface StatusTarget<S> {
  readonly schema: Schema<S>;
  readonly now: Instant;
  /** Absent: it is not written yet. */
  readonly object: { readonly metadata: ObjectMeta; readonly status?: ObjectStatus } | undefined;
}

/**
 * The status for an object, within the limits of its schema. The conditions are of this writer only: each writer applies
 * its own. The transition time changes only with the condition's status.
 */
export function completeStatus<S extends object>(
  status: S,
  desired: readonly DesiredCondition[],
  { schema, now, object }: StatusTarget<S>,
): S {
  const generation = object?.metadata.generation;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const conditions = desired.map((each) => {
    const before = conditionIn(object?.status?.conditions, each.type);
    const lastTransitionTime = before?.status === each.status ? before.lastTransitionTime : formatTime(now);
    return { ...each, ...observed, lastTransitionTime };
  });
  return fitToSchema(schema, { ...status, ...observed, ...(conditions.length === 0 ? {} : { conditions }) });
}

export function conditionIn<T extends DesiredCondition>(
  conditions: readonly T[] | undefined,
  type: string,
): T | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isTrue(conditions: readonly DesiredCondition[] | undefined, type: string): boolean {
  return conditionIn(conditions, type)?.status === "True";
}

export interface ObjectStatus {
  readonly conditions?: readonly Condition[];
  readonly lastUpdateTime?: string;
}

/** The fields of a status that belong to other writers, and the conditions that belong to the broker. */
export interface StatusOwnership {
  readonly othersFields: readonly string[];
  readonly ownConditions: readonly string[];
  /** True: a different `lastUpdateTime` alone is no reason to write. */
  readonly ignoresUpdateTime: boolean;
}

/** True if writing the status would change nothing. */
export function isStatusCurrent(
  status: ObjectStatus,
  object: { readonly status?: ObjectStatus },
  ownership: StatusOwnership,
): boolean {
  const { isOutdated, removals } = statusDiff(status, object.status ?? {}, ownership);
  return !isOutdated && removals === undefined;
}

export function statusDiff(
  desired: ObjectStatus,
  found: ObjectStatus,
  { othersFields, ownConditions, ignoresUpdateTime }: StatusOwnership,
): Diff {
  const ignored = ["conditions", ...othersFields, ...(ignoresUpdateTime ? ["lastUpdateTime"] : [])];
  const fields = diffObjects(without({ ...desired }, ignored), without({ ...found }, ignored));
  const conditions = conditionsDiff(desired.conditions ?? [], found.conditions ?? [], ownConditions);
  const removals = { ...fields.removals, ...conditions.removals };
  return {
    isOutdated: fields.isOutdated || conditions.isOutdated,
    removals: Object.keys(removals).length === 0 ? undefined : removals,
  };
}

function conditionsDiff(
  desired: readonly Condition[],
  found: readonly Condition[],
  own: readonly string[],
): Diff {
  const isOutdated = desired.some(
    (condition) => canonical(condition) !== canonical(conditionIn(found, condition.type)),
  );
  const kept = found.filter(({ type }) => conditionIn(desired, type) !== undefined || !own.includes(type));
  // A merge patch replaces the whole list; the required resourceVersion prevents lost updates.
  return { isOutdated, removals: kept.length === found.length ? undefined : { conditions: kept } };
}

function without(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** Any object of fields. */
type Fields = { readonly [name: string]: unknown };

/** The difference between a desired and a current object. */
interface Diff {
  /** Something is missing or different. */
  readonly isOutdated: boolean;
  /** The merge patch that takes away what should not be there; undefined: nothing such is there. */
  readonly removals: Fields | undefined;
}

/** Lists are compared as a whole; fields that are undefined are not there. */
export function diffObjects(desired: object, found: object): Diff {
  const want = fieldsOf(desired);
  const have = fieldsOf(found);
  let isOutdated = false;
  const removals: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(want)) {
    const there = have[name];
    if (isFields(value) && isFields(there)) {
      const inner = diffObjects(value, there);
      isOutdated ||= inner.isOutdated;
      if (inner.removals !== undefined) removals[name] = inner.removals;
    } else if (canonical(value) !== canonical(there)) isOutdated = true;
  }
  for (const name of Object.keys(have)) if (!Object.hasOwn(want, name)) removals[name] = null;
  return { isOutdated, removals: Object.keys(removals).length === 0 ? undefined : removals };
}

/**
 * The merge patch that turns the current value into the desired one; undefined if they are equal. Fields that are not
 * desired are removed, whoever wrote them.
 */
export function mergePatch(current: unknown, desired: object): object | undefined {
  if (!isFields(current)) return desired;
  const gone = Object.keys(current).filter((name) => !Object.hasOwn(desired, name));
  const changed = Object.entries(desired).flatMap(([name, value]) => {
    const part: unknown = isFields(value) ? mergePatch(current[name], value) : value;
    return part === undefined || part === current[name] ? [] : [[name, part] as const];
  });
  if (gone.length + changed.length === 0) return undefined;
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]);
}

/** The text of a value, whatever the order of its fields. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (isFields(part) ? sorted(part) : part)) ?? "";
}

function sorted(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function fieldsOf(object: object): Fields {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
