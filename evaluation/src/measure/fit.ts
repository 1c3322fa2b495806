export interface Point {
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
