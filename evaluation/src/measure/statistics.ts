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
