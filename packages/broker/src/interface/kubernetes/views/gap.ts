/** Any object of fields. */
export type Fields = { readonly [name: string]: unknown };

/** The difference between a desired and a current object. */
export interface Gap {
  /** Something is missing or different. */
  readonly isBehind: boolean;
  /** The merge patch that takes away what should not be there; undefined: nothing such is there. */
  readonly surplus: Fields | undefined;
}

/** Lists are compared as a whole; fields that are undefined are not there. */
export function gapBetween(wanted: object, found: object): Gap {
  const want = fieldsOf(wanted);
  const have = fieldsOf(found);
  let isBehind = false;
  const surplus: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(want)) {
    const there = have[name];
    if (isFields(value) && isFields(there)) {
      const inner = gapBetween(value, there);
      isBehind ||= inner.isBehind;
      if (inner.surplus !== undefined) surplus[name] = inner.surplus;
    } else if (canonical(value) !== canonical(there)) isBehind = true;
  }
  for (const name of Object.keys(have)) if (!Object.hasOwn(want, name)) surplus[name] = null;
  return { isBehind, surplus: Object.keys(surplus).length === 0 ? undefined : surplus };
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
