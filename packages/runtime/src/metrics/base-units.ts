import { amountOf, type ResourceVector, resourceNames } from "@resource-broker/domain";

/** Amounts in Prometheus base units (cores, bytes). CPU and memory are always included, others when not zero. */
export function inBaseUnits(vector: ResourceVector): [resource: string, amount: number][] {
  const others = resourceNames(vector).filter((name) => name !== "cpu" && name !== "memory");
  return [
    ["cpu", vector.cpuMillis / 1000],
    ["memory", vector.memoryBytes],
    ...others.map((name): [string, number] => [name, amountOf(vector, name)]),
  ];
}
