import type { ReservationCostDTO } from "@resource-broker/contract";

const SHOWN_DIGITS = 4;

/** `0.2109 EUR/h`, or a dash where there is no price. */
export function perHour(price: string | undefined, currency: string | undefined): string {
  return price === undefined || currency === undefined ? "-" : `${shortened(price)} ${currency}/h`;
}

/** `0.2109 EUR/h, 0.4219 EUR in all`. */
export function costText(cost: ReservationCostDTO | undefined): string {
  if (cost === undefined) return "none, the provider is not priced";
  const { total, currency } = cost;
  return `${perHour(cost.perHour, currency)}${total === undefined ? "" : `, ${shortened(total)} ${currency} in all`}`;
}

/** The digits that matter to a person; -o json has them all. */
function shortened(price: string): string {
  const value = Number(price);
  return value >= 10 ** SHOWN_DIGITS ? value.toFixed(0) : String(Number(value.toPrecision(SHOWN_DIGITS)));
}
