/** A value that rows are sorted by; null: there is none, which comes last in either order. */
export type SortKey = string | number | null;

/** Rows in the order of their keys; rows with the same key in the order of their names, so that pages never overlap. */
export function sortRows<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => SortKey,
  { nameOf, isDescending }: { readonly nameOf: (row: Row) => string; readonly isDescending: boolean },
): Row[] {
  const keyed = rows.map((row) => ({ row, key: keyOf(row), name: nameOf(row) }));
  const direction = isDescending ? -1 : 1;
  keyed.sort((a, b) => compareKeys(a.key, b.key, direction) || compare(a.name, b.name));
  return keyed.map(({ row }) => row);
}

function compareKeys(a: SortKey, b: SortKey, direction: 1 | -1): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return direction * compare(a, b);
}

function compare(a: string | number, b: string | number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
