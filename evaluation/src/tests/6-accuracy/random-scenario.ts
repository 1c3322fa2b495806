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

interface NamedScenario {
  readonly name: string;
  /** Loads differ a little from trial to trial; the answer does not. */
  readonly clusters: (random: SeededRandom) => readonly OracleCluster[];
  /** One after the other; what is expected of each. */
  readonly asks: readonly { readonly wanted: Amounts; readonly expected: string }[];
}

const GI = 1024;
const amounts = (cpus: number, gi: number): Amounts => ({
  cpuMillis: cpus * 1000,
  memoryMi: gi * GI,
  gpus: 0,
});

function cluster(id: string, allocatable: Amounts, loadPercent: number): OracleCluster {
  const share = (amount: number): number => Math.round((amount * loadPercent) / 100);
  const allocated = {
    cpuMillis: share(allocatable.cpuMillis),
    memoryMi: share(allocatable.memoryMi),
    gpus: 0,
  };
  return { id, allocatable, allocated, labels: {}, nodeShapes: [], isCordoned: false };
}

/** Three of the same size, of which `medium` has by far the least to do. */
const alike = (random: SeededRandom): OracleCluster[] => [
  cluster("small", amounts(16, 64), random.between(50, 60)),
  cluster("medium", amounts(16, 64), random.between(5, 15)),
  cluster("large", amounts(16, 64), random.between(30, 40)),
];

/** Three of different sizes, the larger the less busy. */
const different = (random: SeededRandom): OracleCluster[] => [
  cluster("small", amounts(2, 4), random.between(20, 40)),
  cluster("medium", amounts(8, 16), random.between(20, 30)),
  cluster("large", amounts(32, 128), random.between(5, 15)),
];

/** The first loan takes so much of `small` that the second one finds more room elsewhere. */
const twoLeft = (random: SeededRandom): OracleCluster[] => [
  cluster("small", amounts(16, 64), random.between(0, 4)),
  cluster("medium", amounts(16, 64), random.between(10, 20)),
  cluster("large", amounts(16, 64), random.between(60, 70)),
];

export const NAMED_SCENARIOS: readonly NamedScenario[] = [
  {
    name: "fits any: the least loaded",
    clusters: alike,
    asks: [{ wanted: amounts(0.5, 0.5), expected: "medium" }],
  },
  {
    name: "medium: too much for the small one",
    clusters: different,
    asks: [{ wanted: amounts(4, 8), expected: "large" }],
  },
  {
    name: "only the large one",
    clusters: different,
    asks: [{ wanted: amounts(16, 32), expected: "large" }],
  },
  {
    name: "two in a row: the second sees the first",
    clusters: twoLeft,
    asks: [
      { wanted: amounts(6, 24), expected: "small" },
      { wanted: amounts(6, 24), expected: "medium" },
    ],
  },
  {
    name: "100 CPU / 500Gi: refused",
    clusters: different,
    asks: [{ wanted: amounts(100, 500), expected: "refused" }],
  },
];

export function plainRequest(requester: string, wanted: Amounts): OracleRequest {
  return { requester, wanted, excluded: [], regions: [], labels: {} };
}
