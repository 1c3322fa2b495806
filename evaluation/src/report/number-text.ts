const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Three figures are all that measurements are good for: `12,345`, `87.3`, `4.56`, `0.0312`, `0`. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 99.95) return GROUPED.format(value);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.9995) return value.toFixed(2);
  const digits = Math.min(6, 2 - Math.floor(Math.log10(size)));
  return value.toFixed(digits).replace(/0+$/, "").replace(/\.$/, "");
}

/** Whole numbers were counted: `3` and not `3.00`. */
export function valueText(value: number): string {
  return Number.isInteger(value) ? countText(value) : numberText(value);
}

/** The same where a whole number was counted. */
export function countText(value: number): string {
  return GROUPED.format(value);
}

/** `4.56 ms`, and `–` where nothing was measured. */
export function withUnit(value: number | undefined, unit: string): string {
  return value === undefined ? NOTHING : `${numberText(value)} ${unit}`;
}

/** Stands where there is nothing to say. */
export const NOTHING = "–";
