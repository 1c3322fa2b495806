import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { CostModel } from "@resource-broker/domain";

const FILE = fileURLToPath(new URL("../../../data/list-prices.json", import.meta.url));
const VCPUS = 4;
const MEMORY_GIB = 16;
const GB_PER_GIB = 1.073741824;

/** A committed snapshot of what vendors ask for a machine with 4 vCPU and 16 GiB. */
export interface ListPrices {
  readonly typedOn: string;
  readonly currency: string;
  readonly split: { readonly vcpuPerHour: number; readonly memoryGiBPerHour: number };
  readonly offers: readonly Offer[];
}

export interface Offer {
  readonly cluster: string;
  readonly vendor: string;
  readonly instance: string;
  readonly region: string;
  readonly perHour: number;
  readonly asOf: string;
}

export async function readListPrices(): Promise<ListPrices> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- committed beside this code; its test reads every entry
  return JSON.parse(await readFile(FILE, "utf8")) as ListPrices;
}

/** A machine's price as the broker reads prices: so much for a CPU, so much for a GB. */
export function costOf({ perHour }: Offer, { currency, split }: ListPrices): CostModel {
  const gibPerVcpu = split.memoryGiBPerHour / split.vcpuPerHour;
  const cpuHour = perHour / (VCPUS + MEMORY_GIB * gibPerVcpu);
  return { currency, onDemand: { cpuHour, memoryGbHour: (cpuHour * gibPerVcpu) / GB_PER_GIB } };
}
