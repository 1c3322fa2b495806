/** What is told of many values of the same kind. */
export interface Distribution {
  readonly count: number;
  readonly mean: number;
  readonly median: number;
  readonly p95: number;
  readonly p99: number;
  readonly least: number;
  readonly most: number;
}

/** The value that this share of all values does not exceed; between two values in proportion. Undefined: there are none. */
export function percentile(values: readonly number[], share: number): number | undefined {
  return percentileOfSorted(
    values.toSorted((a, b) => a - b),
    share,
  );
}

export function median(values: readonly number[]): number | undefined {
  return percentile(values, 0.5);
}

export function mean(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Undefined: there is nothing to tell of. */
export function distributionOf(values: readonly number[]): Distribution | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => percentileOfSorted(sorted, share) ?? 0;
  const average = mean(sorted);
  if (average === undefined) return undefined;
  return {
    count: sorted.length,
    mean: average,
    median: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    least: at(0),
    most: at(1),
  };
}

function percentileOfSorted(sorted: readonly number[], share: number): number | undefined {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) return undefined;
  return below + (above - below) * (place - Math.floor(place));
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** y = slope · x + offset. */
export interface Fit {
  readonly slope: number;
  readonly offset: number;
  /** How much of the variation the line explains, from 0 to 1. */
  readonly r2: number;
}

/** Least squares. Undefined: fewer than two different x. */
export function linearFit(points: readonly Point[]): Fit | undefined {
  const count = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  const sums = { xx: 0, xy: 0, yy: 0 };
  for (const { x, y } of points) {
    sums.xx += (x - meanX) ** 2;
    sums.xy += (x - meanX) * (y - meanY);
    sums.yy += (y - meanY) ** 2;
  }
  if (count < 2 || sums.xx === 0) return undefined;
  const slope = sums.xy / sums.xx;
  const r2 = sums.yy === 0 ? 1 : sums.xy ** 2 / (sums.xx * sums.yy);
  return { slope, offset: meanY - slope * meanX, r2 };
}

/**
 * How cost grows: y ~ x^slope. 0: not at all, 1: in proportion, 2: with the square. Points that have no logarithm (0 and
 * below) are left out. Undefined: fewer than two are left.
 */
export function logLogFit(points: readonly Point[]): Fit | undefined {
  return linearFit(
    points.filter(({ x, y }) => x > 0 && y > 0).map(({ x, y }) => ({ x: Math.log10(x), y: Math.log10(y) })),
  );
}
