const formats = new Map<string, (amount: number) => string>();

/** Small prices keep their digits: € 0.0042 is not nothing. `digits`: so many, for those of one column. */
export function moneyText(amount: number, currency: string, digits?: number): string {
  const key = `${currency}/${digits ?? `up to ${digitsFor(amount)}`}`;
  const format = formats.get(key) ?? moneyFormat(currency, [digits ?? 2, digits ?? digitsFor(amount)]);
  formats.set(key, format);
  return format(amount).replace("-", "\u2212");
}

/** What something costs for an hour: a column of them stands in line, unless one is next to nothing. */
export function rateText(amount: number, currency: string): string {
  const size = Math.abs(amount);
  return moneyText(amount, currency, size === 0 || size >= 0.00995 ? 3 : 4);
}

/** As many as the biggest of a column needs. */
export function digitsFor(amount: number): number {
  const size = Math.abs(amount);
  if (size === 0 || size >= 0.995) return 2;
  return size >= 0.0995 ? 3 : 4;
}

function moneyFormat(
  currency: string,
  [minimumFractionDigits, maximumFractionDigits]: readonly [number, number],
): (amount: number) => string {
  const fixed = { minimumFractionDigits, maximumFractionDigits };
  try {
    const format = new Intl.NumberFormat("en", { style: "currency", currency, ...fixed });
    return (amount) => format.format(amount);
  } catch {
    // A policy may name a currency of its own, which Intl refuses.
    const format = new Intl.NumberFormat("en", fixed);
    return (amount) => `${format.format(amount)} ${currency}`;
  }
}
