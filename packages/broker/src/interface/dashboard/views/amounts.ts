import type { ResourceVector } from "@resource-broker/base";
import type { UiAmounts } from "@resource-broker/contract/dashboard";

const MILLIS_PER_CPU = 1000;

export const NO_AMOUNTS: UiAmounts = { cpu: 0, memory: 0, gpu: 0 };

/** In the units that pages count in. */
export function amountsOf({ cpuMillis, memoryBytes, gpus }: ResourceVector): UiAmounts {
  return { cpu: cpuMillis / MILLIS_PER_CPU, memory: memoryBytes, gpu: gpus };
}

export function addAmounts(a: UiAmounts, b: UiAmounts): UiAmounts {
  return { cpu: roundedCpu(a.cpu + b.cpu), memory: a.memory + b.memory, gpu: a.gpu + b.gpu };
}

/** Thousandths are exact in the ledger: a sum of 0.1 and 0.2 must not show that pages count in fractions. */
function roundedCpu(cpu: number): number {
  return Math.round(cpu * MILLIS_PER_CPU) / MILLIS_PER_CPU;
}
