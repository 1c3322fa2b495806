/**
 * The first `limit` names behind `after`, in order, out of names in any order. Walks them once and sorts only what it
 * keeps: a page of a long list must not cost sorting the list.
 */
export function firstAfter(names: Iterable<string>, after: string, limit: number): string[] {
  const kept: string[] = [];
  for (const name of names) {
    if (name <= after) continue;
    const last = kept.length < limit ? undefined : kept[limit - 1];
    if (last !== undefined && name >= last) continue;
    kept.splice(insertionIndex(name, kept), 0, name);
    if (kept.length > limit) kept.pop();
  }
  return kept;
}

function insertionIndex(name: string, sorted: readonly string[]): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? "") < name) low = middle + 1;
    else high = middle;
  }
  return low;
}
