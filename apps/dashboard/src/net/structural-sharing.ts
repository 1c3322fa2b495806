/**
 * The new value, with every part of the old one that did not change: components that were given such a part need not be
 * drawn again.
 */
export function shareStructure<T>(before: T | undefined, after: T): T {
  const kept = merged(before, after);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- equal in every part, so of the same type
  return kept as T;
}

function merged(before: unknown, after: unknown): unknown {
  if (Object.is(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) return mergedList(before, after);
  if (isRecord(before) && isRecord(after)) return mergedRecord(before, after);
  return after;
}

function mergedList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
  const byId = new Map(before.map((item) => [idOf(item), item]));
  const items = after.map((item, index) => merged(byId.get(idOf(item) ?? NO_ID) ?? before[index], item));
  const isSame = items.length === before.length && items.every((item, index) => item === before[index]);
  return isSame ? before : items;
}

const NO_ID = Symbol("no id");

/** Rows are found again by their ID, though they moved. */
function idOf(item: unknown): unknown {
  return isRecord(item) ? item["id"] : undefined;
}

function mergedRecord(before: Record<string, unknown>, after: Record<string, unknown>): unknown {
  const keys = Object.keys(after);
  const entries = keys.map((key) => [key, merged(before[key], after[key])] as const);
  const isSame =
    keys.length === Object.keys(before).length && entries.every(([key, value]) => value === before[key]);
  return isSame ? before : Object.fromEntries(entries);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
