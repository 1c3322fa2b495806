import type { PageId } from "./page.ts";

/** Pages that follow each other in one epoch: `[epoch, first, last]`. Thousands of pages are a few of these. */
export type PageRange = readonly [epoch: number, first: number, last: number];

export function withPages(ranges: readonly PageRange[], added: readonly PageId[]): PageRange[] {
  const all = [...ranges];
  for (const { epoch, number } of added) {
    const last = all.at(-1);
    if (last !== undefined && last[0] === epoch && last[2] === number - 1)
      all[all.length - 1] = [epoch, last[1], number];
    else all.push([epoch, number, number]);
  }
  return all;
}

export function pagesIn(ranges: readonly PageRange[]): PageId[] {
  return ranges.flatMap(([epoch, first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => ({ epoch, number: first + index })),
  );
}

export function pageCount(ranges: readonly PageRange[]): number {
  return ranges.reduce((count, [, first, last]) => count + last - first + 1, 0);
}

/** Without the first pages. */
export function withoutFirst(ranges: readonly PageRange[], count: number): PageRange[] {
  return withPages([], pagesIn(ranges).slice(count));
}
