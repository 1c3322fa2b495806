export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** `187 (171–240) ms`. */
export function spread(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(0)} (${low.toFixed(0)}–${high.toFixed(0)}) ms`;
}

export const mb = (value: number): string => `${value.toFixed(1)} MB`;

export const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
