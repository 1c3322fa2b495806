import type { ReservationCostDTO } from "@resource-broker/contract";

const DIGITS = 4;

/** `0.1624 EUR/h`: a person reads no more digits than that. */
export function priceText(cost: ReservationCostDTO | undefined): string {
  if (cost === undefined) return "not priced";
  return `${Number(Number(cost.perHour).toPrecision(DIGITS))} ${cost.currency}/h`;
}
