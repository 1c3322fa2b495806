import type { Policy, ReservationCost } from "@resource-broker/domain";

/** A price in the policy's currency; undefined where there is none, or no rate for its currency. */
export function inPolicyCurrency(
  cost: Pick<ReservationCost, "currency" | "perHour"> | undefined,
  prices: Policy["prices"],
): number | undefined {
  const rate = cost === undefined ? undefined : rateOf(cost.currency, prices);
  return cost === undefined || rate === undefined ? undefined : cost.perHour * rate;
}

/** Worth of one unit of a currency in the policy's. */
export function rateOf(currency: string, prices: Policy["prices"]): number | undefined {
  if (currency === prices.currency) return 1;
  return Object.hasOwn(prices.rates, currency) ? prices.rates[currency] : undefined;
}
