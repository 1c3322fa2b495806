import { add, NO_RESOURCES, parseAmount, type ResourceVector, resourceVector } from "@resource-broker/domain";

/** Real consumption of the counted nodes, from a list of metrics.k8s.io; undefined: no data. */
export function usageFrom(
  list: unknown,
  isCounted: (nodeName: string) => boolean,
): ResourceVector | undefined {
  let used: ResourceVector | undefined;
  for (const item of itemsOf(list)) {
    const name = textAt(recordAt(item, "metadata"), "name");
    if (name === undefined || !isCounted(name)) continue;
    used = add(used ?? NO_RESOURCES, usageOf(recordAt(item, "usage")));
  }
  return used;
}

/** Metrics may be in nanocores; unreadable values count as zero. */
function usageOf(usage: unknown): ResourceVector {
  return resourceVector({
    cpuMillis: amountAt(usage, "cpu", "milli"),
    memoryBytes: amountAt(usage, "memory", "one"),
  });
}

function amountAt(usage: unknown, name: string, unit: "milli" | "one"): number {
  const parsed = parseAmount(textAt(usage, name) ?? "", { unit, rounding: "up" });
  return parsed.ok ? Math.max(0, parsed.amount) : 0;
}

function itemsOf(list: unknown): readonly unknown[] {
  const items = recordAt(list, "items");
  return Array.isArray(items) ? items : [];
}

function textAt(value: unknown, name: string): string | undefined {
  const found = recordAt(value, name);
  return typeof found === "string" ? found : undefined;
}

function recordAt(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}
