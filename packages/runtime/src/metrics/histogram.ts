import { numberText, type Sample } from "./text-format.ts";

/** How often values fell into each bucket; buckets are upper bounds, in rising order. */
export function histogramOf(buckets: readonly number[]) {
  const bounds = [...buckets, Number.POSITIVE_INFINITY];
  const counts = new Float64Array(bounds.length);
  let sum = 0;

  const samples = function* (): Generator<Sample> {
    let total = 0;
    for (const [index, bound] of bounds.entries()) {
      total += counts[index] ?? 0;
      yield { suffix: "_bucket", labels: { le: numberText(bound) }, value: total };
    }
    yield { suffix: "_sum", labels: {}, value: sum };
    yield { suffix: "_count", labels: {}, value: total };
  };

  return {
    observe: (value: number): void => {
      const index = bounds.findIndex((bound) => value <= bound);
      // NaN belongs to no bucket and would make the sum NaN.
      if (index === -1) return;
      counts[index] = (counts[index] ?? 0) + 1;
      sum += value;
    },
    samples,
  };
}
