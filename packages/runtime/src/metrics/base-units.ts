import { amountOf, type ResourceVector, resourceNames } from "@resource-broker/domain";

/** Cpu and memory always, the others where there are any. Prometheus wants cores, not thousandths of them. */
export function inBaseUnits(vector: ResourceVector): [resource: string, amount: number][] {
  const others = resourceNames(vector).filter((name) => name !== "cpu" && name !== "memory");
  return [
    ["cpu", vector.cpuMillis / 1000],
    ["memory", vector.memoryBytes],
    ...others.map((name): [string, number] => [name, amountOf(vector, name)]),
  ];
}
