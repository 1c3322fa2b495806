/** Without all of these a price cannot be compared with another. */
const NEEDED = ["cpuCost", "memoryCost", "currency"] as const;

/**
 * Removes an incomplete price, so that the capacity of the advertisement still counts. Returns the body unchanged if the
 * price is complete, absent, or not an object.
 */
export function withoutIncompleteCost(body: unknown): unknown {
  if (!isRecord(body) || !isRecord(body["cost"])) return body;
  const stated = body["cost"];
  if (NEEDED.every((name) => stated[name] !== undefined && stated[name] !== "")) return body;
  const { cost: _, ...rest } = body;
  return rest;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
