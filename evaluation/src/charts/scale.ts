import { countText, numberText } from "../report/number-text.ts";

/** Where a value is drawn, and what stands beside the axis. */
export interface Scale {
  /** Undefined: it has no place, as 0 has none where the scale is logarithmic. */
  readonly place: (value: number) => number | undefined;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

export interface Range {
  readonly from: number;
  readonly to: number;
}

const ABOUT_TICKS = 6;
const FEW_DECADES = 2.4;
const STEPS = [1, 2, 2.5, 5, 10];

/** Begins at 0: a difference must not look larger than it is. */
export function linearScale(values: readonly number[], range: Range): Scale {
  const largest = Math.max(0, ...values) || 1;
  const step = niceStep(largest / ABOUT_TICKS);
  const top = Math.ceil(largest / step - 1e-9) * step;
  const place = (value: number): number => range.from + (value / top) * (range.to - range.from);
  const count = Math.round(top / step);
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
  return { place, ticks: ticks.map((value) => ({ at: place(value), label: tickText(value) })) };
}

/** Ends at 1, 2 or 5 times a power of ten. These are marked as well where there are few powers of ten between the ends. */
export function logScale(values: readonly number[], range: Range): Scale {
  const positive = values.filter((value) => value > 0);
  const low = positive.length === 0 ? 1 : roundDown(Math.min(...positive));
  // At least tenfold: a difference must not look larger than it is.
  return logBetween(low, roundUp(Math.max(10 * low, ...positive)), range);
}

/** The same for bars: the shortest one has a height, so that it is seen. */
export function logBarScale(values: readonly number[], range: Range): Scale {
  const positive = values.filter((value) => value > 0);
  const low = positive.length === 0 ? 1 : 10 ** Math.floor(Math.log10(Math.min(...positive) / 1.5));
  return logBetween(low, roundUp(Math.max(low * 10, ...positive)), range);
}

function logBetween(low: number, high: number, range: Range): Scale {
  const decades = Math.log10(high / low);
  const inside = (value: number): number =>
    range.from + (Math.log10(value / low) / decades) * (range.to - range.from);
  const isMarked = (value: number): boolean =>
    value >= low * 0.999 && value <= high * 1.001 && (decades <= FEW_DECADES || isPowerOfTen(value));
  return {
    place: (value) => (value > 0 ? inside(value) : undefined),
    ticks: oneTwoFive(low, high)
      .filter(isMarked)
      .map((value) => ({ at: inside(value), label: tickText(value) })),
  };
}

/** All of 1, 2, 5, 10 … around the two, and one more on either side. */
function oneTwoFive(low: number, high: number): number[] {
  const from = Math.floor(Math.log10(low)) - 1;
  const count = Math.ceil(Math.log10(high)) - from + 2;
  return Array.from({ length: count }, (_, index) => from + index).flatMap((power) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${power}`)),
  );
}

function roundDown(value: number): number {
  return oneTwoFive(value, value).findLast((each) => each <= value * 1.000_001) ?? value;
}

function roundUp(value: number): number {
  return oneTwoFive(value, value).find((each) => each >= value * 0.999_999) ?? value;
}

function isPowerOfTen(value: number): boolean {
  return Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6);
}

function niceStep(rough: number): number {
  const decade = 10 ** Math.floor(Math.log10(rough));
  return (STEPS.find((step) => step * decade >= rough * 0.999_999) ?? 10) * decade;
}

function tickText(value: number): string {
  if (value >= 100 || Number.isInteger(value)) return countText(value);
  return numberText(value)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");
}
