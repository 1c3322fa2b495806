import {
  amountOf,
  describeAmount,
  describeResources,
  parseAmount,
  type ResourceName,
  type ResourceVector,
  resourceVector,
} from "@resource-broker/base";
import type { SomeQuantitiesDTO } from "@resource-broker/contract";

/** What a peer wrote, as numbers. An amount that cannot be read was refused before it came here. */
export function amountsIn(quantities: SomeQuantitiesDTO): ResourceVector {
  const { cpu = "0", memory = "0", gpu = "0", storage = "0", extended = {} } = quantities;
  return resourceVector({
    cpuMillis: amount(cpu, "milli"),
    memoryBytes: amount(memory, "one"),
    gpus: amount(gpu, "one"),
    storageBytes: amount(storage, "one"),
    extended: Object.fromEntries(
      Object.entries(extended).map(([name, text]) => [name, amount(text, "one")] as const),
    ),
  });
}

/** `4 CPU / 8Gi Memory`. */
export function described(quantities: SomeQuantitiesDTO): string {
  return describeResources(amountsIn(quantities));
}

/** `15/16`, `62Gi/64Gi`: what is left of how much. */
export function leftOf(name: ResourceName, left: number, all: number): string {
  return all === 0 && left === 0 ? "-" : `${shortAmount(name, left)}/${shortAmount(name, all)}`;
}

/** `4, 8Gi, 1 GPU`: for a column beside those of CPU and memory. */
export function listed(vector: ResourceVector): string {
  const { cpuMillis, memoryBytes, gpus } = vector;
  if (cpuMillis === 0 && memoryBytes === 0 && gpus === 0) return "-";
  const main = `${shortAmount("cpu", cpuMillis)}, ${shortAmount("memory", memoryBytes)}`;
  return gpus === 0 ? main : `${main}, ${gpus} GPU`;
}

/** `4`, `8Gi`; nothing is a dash. */
export function one(name: "cpu" | "memory" | "gpu" | "storage", quantities: SomeQuantitiesDTO): string {
  const value = amountOf(amountsIn(quantities), name);
  return value === 0 ? "-" : shortAmount(name, value);
}

/** `4`, `8Gi`, `0`: an amount without its name. */
export function shortAmount(name: ResourceName, value: number): string {
  return value === 0 ? "0" : (describeAmount(name, value).split(" ")[0] ?? "");
}

function amount(text: string, unit: "milli" | "one"): number {
  const parsed = parseAmount(text, { unit, rounding: "down" });
  return parsed.ok ? parsed.amount : 0;
}
