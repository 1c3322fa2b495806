/** Without all of these a price cannot be compared with another. */
const NEEDED = ["cpuCost", "memoryCost", "currency"] as const;

/**
 * An advertisement with half a price is one without a price: what the cluster can lend still counts. Returns the body
 * itself where the price is whole, absent, or no object at all.
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
