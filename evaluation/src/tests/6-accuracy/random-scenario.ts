import type { SeededRandom } from "@resource-broker/testkit";
import type { Amounts, OracleCluster, OracleRequest } from "./oracle.ts";

const REGIONS = ["eu-west", "us-east", "ap-north"];
const TIERS = ["gold", "silver"];
/** The last one has no rate: whoever asks in it is not priced. */
const CURRENCIES = ["EUR", "EUR", "USD", "CHF"];
const STEP = { cpuMillis: 250, memoryMi: 256 };

/** Clusters of every size, load, price and kind; some empty, some full. */
export function randomClusters(random: SeededRandom, ids: readonly string[]): OracleCluster[] {
  return ids.map((id) => {
    const allocatable = amountsUpTo(random, { cpus: 64, gi: 256, gpus: 4 });
    const region = random.pick(REGIONS);
    return {
      id,
      allocatable,
      allocated: partOf(random, allocatable),
      ...(random.chance(0.7) ? { price: randomPrice(random) } : {}),
      ...(region === undefined || random.chance(0.2) ? {} : { region }),
      labels: random.chance(0.5) ? { tier: random.pick(TIERS) ?? "gold" } : {},
      nodeShapes: Array.from({ length: random.between(1, 3) }, () => partOf(random, allocatable)),
      isCordoned: random.chance(0.05),
    };
  });
}

export interface Parties {
  readonly providers: readonly string[];
  readonly requesters: readonly string[];
}

/** Most ask for something that somebody has; some want a lot, and some are choosy. */
export function randomRequest(random: SeededRandom, { providers, requesters }: Parties): OracleRequest {
  const wanted = { ...amountsUpTo(random, { cpus: 6, gi: 20, gpus: 1 }) };
  const target = random.chance(0.05) ? random.pick(providers) : undefined;
  return {
    requester: random.pick(random.chance(0.2) ? providers : requesters) ?? "rome",
    wanted: {
      cpuMillis: Math.max(STEP.cpuMillis, wanted.cpuMillis),
      memoryMi: Math.max(STEP.memoryMi, wanted.memoryMi),
      gpus: wanted.gpus,
    },
    ...(target === undefined ? {} : { target }),
    excluded: random.chance(0.1) ? someOf(random, providers) : [],
    regions: random.chance(0.15) ? someOf(random, REGIONS) : [],
    labels: random.chance(0.1) ? { tier: random.pick(TIERS) ?? "gold" } : {},
    ...(random.chance(0.15) ? { perNode: { ...amountsUpTo(random, { cpus: 4, gi: 8, gpus: 0 }) } } : {}),
  };
}

interface Most {
  readonly cpus: number;
  readonly gi: number;
  readonly gpus: number;
}

/** Small amounts are as likely as large ones, so that a request fits some clusters and not others. */
function amountsUpTo(random: SeededRandom, { cpus, gi, gpus }: Most): Amounts {
  const scale = random.pick([1, 1, 0.5, 0.2]) ?? 1;
  return {
    cpuMillis: STEP.cpuMillis * random.below(Math.ceil((cpus * scale * 1000) / STEP.cpuMillis) + 1),
    memoryMi: STEP.memoryMi * random.below(Math.ceil((gi * scale * 1024) / STEP.memoryMi) + 1),
    gpus: random.chance(0.7) ? 0 : random.below(gpus + 1),
  };
}

function partOf(random: SeededRandom, { cpuMillis, memoryMi, gpus }: Amounts): Amounts {
  return {
    cpuMillis: random.below(cpuMillis + 1),
    memoryMi: random.below(memoryMi + 1),
    gpus: random.below(gpus + 1),
  };
}

/** Whole thousandths: they mean the same as text and as a number. */
function randomPrice(random: SeededRandom): NonNullable<OracleCluster["price"]> {
  const isFree = random.chance(0.05);
  const thousandths = (most: number): number => (isFree ? 0 : random.between(1, most) / 1000);
  return {
    cpu: thousandths(120),
    memoryGb: thousandths(20),
    ...(random.chance(0.6) ? { gpu: thousandths(3000) } : {}),
    currency: random.pick(CURRENCIES) ?? "EUR",
  };
}

function someOf<T>(random: SeededRandom, list: readonly T[]): T[] {
  const some = list.filter(() => random.chance(0.4));
  return some.length > 0 ? some : list.slice(0, 1);
}

/** The names of the clusters in the predecessor's five scenarios. */
export const NAMED = ["small", "medium", "large"] as const;

/** How large each is, and between which percentages of it are taken already. */
type NamedFleet = Readonly<
  Record<(typeof NAMED)[number], readonly [cpus: number, gi: number, least: number, most: number]>
>;

/** Three of the same size, of which `medium` has by far the least to do. */
const ALIKE: NamedFleet = { small: [16, 64, 50, 60], medium: [16, 64, 5, 15], large: [16, 64, 30, 40] };
/** Three of different sizes, the larger the less busy. */
const DIFFERENT: NamedFleet = { small: [2, 4, 20, 40], medium: [8, 16, 20, 30], large: [32, 128, 5, 15] };
/** The first loan takes so much of `small` that the second one finds more room elsewhere. */
const TWO_LEFT: NamedFleet = { small: [16, 64, 0, 4], medium: [16, 64, 10, 20], large: [16, 64, 60, 70] };

interface NamedScenario {
  readonly name: string;
  readonly fleet: NamedFleet;
  /** One after the other; what is expected of each. */
  readonly asks: readonly (readonly [cpus: number, gi: number, expected: string])[];
}

export const NAMED_SCENARIOS: readonly NamedScenario[] = [
  { name: "fits any: the least loaded", fleet: ALIKE, asks: [[0.5, 0.5, "medium"]] },
  { name: "medium: too much for the small one", fleet: DIFFERENT, asks: [[4, 8, "large"]] },
  { name: "only the large one", fleet: DIFFERENT, asks: [[16, 32, "large"]] },
  {
    name: "two in a row: the second sees the first",
    fleet: TWO_LEFT,
    asks: [
      [6, 24, "small"],
      [6, 24, "medium"],
    ],
  },
  { name: "100 CPU / 500Gi: refused", fleet: DIFFERENT, asks: [[100, 500, "refused"]] },
];

const amounts = (cpus: number, gi: number): Amounts => ({
  cpuMillis: cpus * 1000,
  memoryMi: gi * 1024,
  gpus: 0,
});

/** Loads differ a little from trial to trial; the answer does not. */
export function namedClusters(random: SeededRandom, fleet: NamedFleet): OracleCluster[] {
  return NAMED.map((id) => {
    const [cpus, gi, least, most] = fleet[id];
    const load = random.between(least, most);
    const allocatable = amounts(cpus, gi);
    const share = (amount: number): number => Math.round((amount * load) / 100);
    const allocated = {
      cpuMillis: share(allocatable.cpuMillis),
      memoryMi: share(allocatable.memoryMi),
      gpus: 0,
    };
    return { id, allocatable, allocated, labels: {}, nodeShapes: [], isCordoned: false };
  });
}

export function plainRequest(requester: string, cpus: number, gi: number): OracleRequest {
  return { requester, wanted: amounts(cpus, gi), excluded: [], regions: [], labels: {} };
}
