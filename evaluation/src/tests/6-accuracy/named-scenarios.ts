import type { SeededRandom } from "@resource-broker/testkit";
import type { Amounts, OracleCluster, OracleRequest } from "./oracle.ts";

/** The names of the clusters in the predecessor's five scenarios. */
export const NAMED = ["small", "medium", "large"] as const;

export interface NamedScenario {
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
