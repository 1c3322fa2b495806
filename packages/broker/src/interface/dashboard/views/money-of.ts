import type { Policy, ReservationCost } from "@resource-broker/domain";

/** A price in the policy's currency; undefined where there is none, or no rate for its currency. */
export function inPolicyCurrency(
  cost: Pick<ReservationCost, "currency" | "perHour"> | undefined,
  { currency, rates }: Policy["prices"],
): number | undefined {
  if (cost === undefined) return undefined;
  if (cost.currency === currency) return cost.perHour;
  const rate = Object.hasOwn(rates, cost.currency) ? rates[cost.currency] : undefined;
  return rate === undefined ? undefined : cost.perHour * rate;
}
