const UNITS: Readonly<Record<string, readonly [base: bigint, exponent: number]>> = {
  "": [10n, 0],
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};
const QUANTITY = /^\+?(\d*)\.?(\d*)([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,3})?$/;

/**
 * A quantity in thousandths, rounded up, by other means than the broker's: whole fractions. Undefined: no quantity.
 */
export function thousandths(text: string): bigint | undefined {
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, whole = "", part = "", unit = ""] = match;
  if (whole + part === "") return undefined;
  const [base, exponent] = UNITS[unit] ?? [10n, Number(unit.slice(1))];
  let numerator = BigInt(whole + part) * 1000n;
  let denominator = 10n ** BigInt(part.length);
  if (exponent >= 0) numerator *= base ** BigInt(exponent);
  else denominator *= base ** BigInt(-exponent);
  return (numerator + denominator - 1n) / denominator;
}
