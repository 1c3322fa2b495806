import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { CostModel } from "@resource-broker/domain";
import type { SeededRandom } from "@resource-broker/testkit";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GIB = 2 ** 30;
/** How many asks there are for each size, of a hundred: many small ones, a few large ones. */
const CPU_MILLIS: readonly (readonly [cpuMillis: number, weight: number])[] = [
  [500, 20],
  [1000, 25],
  [2000, 25],
  [4000, 17],
  [8000, 9],
  [16_000, 4],
];
const GIB_PER_CPU = [1, 2, 4, 4, 8];
const SHORTEST_MS = 10 * 60_000;
const LONGEST_MS = 2 * DAY_MS;
/** Half of the loans are shorter. */
const MEDIAN_MS = 3 * HOUR_MS;

/** One request of the trace: who asks when, for what, and for how long. */
export interface TraceRequest {
  readonly atMs: number;
  readonly requester: string;
  readonly cpuMillis: number;
  readonly memoryBytes: number;
  readonly durationMs: number;
}

export interface TraceOptions {
  readonly random: SeededRandom;
  readonly count: number;
  /** How long the trace lasts. */
  readonly lastsMs: number;
  readonly requesters: number;
}

/** Requests with a busy day and a quiet night, sorted by time; the same for the same seed. */
export function makeTrace({ random, count, lastsMs, requesters }: TraceOptions): TraceRequest[] {
  const asks = Array.from({ length: count }, (): TraceRequest => {
    const cpuMillis = weighted(random, CPU_MILLIS);
    const memoryBytes = Math.round((cpuMillis / 1000) * (random.pick(GIB_PER_CPU) ?? 4) * GIB);
    return {
      atMs: momentOf(random, lastsMs),
      requester: `edge-${random.below(requesters)}`,
      cpuMillis,
      memoryBytes,
      durationMs: durationOf(random),
    };
  });
  return asks.sort((a, b) => a.atMs - b.atMs);
}

/** Twice as many at noon as on average, none at midnight: moments are drawn until one is kept. */
function momentOf(random: SeededRandom, lastsMs: number): number {
  for (;;) {
    const atMs = Math.floor(share(random) * lastsMs);
    const busy = (1 - Math.cos((2 * Math.PI * (atMs % DAY_MS)) / DAY_MS)) / 2;
    if (random.chance(busy)) return atMs;
  }
}

/** Many short loans and a long tail: the logarithm of the duration is bell-shaped. */
function durationOf(random: SeededRandom): number {
  const bell = share(random) + share(random) + share(random) + share(random) - 2;
  const durationMs = MEDIAN_MS * Math.exp(2 * bell);
  return Math.round(Math.min(LONGEST_MS, Math.max(SHORTEST_MS, durationMs)));
}

function weighted(random: SeededRandom, choices: readonly (readonly [value: number, weight: number])[]) {
  const total = choices.reduce((sum, [, weight]) => sum + weight, 0);
  let rest = random.below(total);
  for (const [value, weight] of choices) {
    if (rest < weight) return value;
    rest -= weight;
  }
  throw new RangeError("no weights to choose by");
}

function share(random: SeededRandom): number {
  return random.below(2 ** 31) / 2 ** 31;
}

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

interface Offer {
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
