const formats = new Map<string, (amount: number) => string>();

/** Small prices keep their digits: € 0.0042 is not nothing. */
export function moneyText(amount: number, currency: string): string {
  const digits = digitsFor(Math.abs(amount));
  const key = `${currency}/${digits}`;
  const format = formats.get(key) ?? moneyFormat(currency, digits);
  formats.set(key, format);
  return format(amount);
}

function digitsFor(size: number): number {
  if (size === 0 || size >= 0.995) return 2;
  return size >= 0.0995 ? 3 : 4;
}

function moneyFormat(currency: string, digits: number): (amount: number) => string {
  const fixed = { minimumFractionDigits: 2, maximumFractionDigits: digits };
  try {
    const format = new Intl.NumberFormat("en", { style: "currency", currency, ...fixed });
    return (amount) => format.format(amount);
  } catch {
    // A policy may name a currency of its own, which Intl refuses.
    const format = new Intl.NumberFormat("en", fixed);
    return (amount) => `${format.format(amount)} ${currency}`;
  }
}
