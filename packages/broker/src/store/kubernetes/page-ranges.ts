import type { SegmentId } from "./page.ts";

/** Pages that follow each other in one epoch: `[epoch, first, last]`. Thousands of pages are a few of these. */
export type SegmentRange = readonly [epoch: number, first: number, last: number];

export function addSegments(ranges: readonly SegmentRange[], added: readonly SegmentId[]): SegmentRange[] {
  const all = [...ranges];
  for (const { epoch, number } of added) {
    const last = all.at(-1);
    if (last !== undefined && last[0] === epoch && last[2] === number - 1)
      all[all.length - 1] = [epoch, last[1], number];
    else all.push([epoch, number, number]);
  }
  return all;
}

export function segmentsIn(ranges: readonly SegmentRange[]): SegmentId[] {
  return ranges.flatMap(([epoch, first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => ({ epoch, number: first + index })),
  );
}

export function segmentCount(ranges: readonly SegmentRange[]): number {
  return ranges.reduce((count, [, first, last]) => count + last - first + 1, 0);
}

/** Without the first pages. */
export function dropFirst(ranges: readonly SegmentRange[], count: number): SegmentRange[] {
  return addSegments([], segmentsIn(ranges).slice(count));
}
