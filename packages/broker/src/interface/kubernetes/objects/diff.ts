/** Any object of fields. */
export type Fields = { readonly [name: string]: unknown };

/** The difference between a desired and a current object. */
export interface Diff {
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
