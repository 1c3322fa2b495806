import type { Decision, Reservation } from "@resource-broker/domain";

const HOUR_MS = 3_600_000;

/**
 * What the choice saved against the mean price of all clusters that fitted: for the time it was asked for, or for one
 * hour when it is open-ended. Never less than nothing: a counter only grows.
 */
export function savingsOf(
  { cost, expiresAt, reservedAt }: Reservation,
  { market }: Pick<Decision, "market">,
): number {
  if (cost === undefined || market.meanPrice === undefined) return 0;
  const hours = expiresAt === undefined ? 1 : (expiresAt - reservedAt) / HOUR_MS;
  return Math.max(0, (market.meanPrice - cost.perHour) * hours);
}
