export function ms(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}
