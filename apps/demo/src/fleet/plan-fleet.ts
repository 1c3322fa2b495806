import type { ClusterPlan } from "@resource-broker/testkit";

export interface FleetSize {
  readonly clusters: number;
  /** Of each cluster; 0: as it comes. */
  readonly nodes: number;
}

export interface Fleet {
  /** The first is the one that is short. */
  readonly plans: readonly ClusterPlan[];
  /** Who lends to it best; undefined: that is for the broker to say. */
  readonly provider: string | undefined;
  readonly hasGpus: boolean;
}

const USUAL_NODES = 3;

/** The four clusters that everybody knows, and more of them when more are asked for. */
export function planFleet({ clusters, nodes }: FleetSize): Fleet {
  const plans = Array.from({ length: clusters }, (_, index) => {
    const known = nodes === 0 ? SMALL_FLEET[index] : undefined;
    return known ?? generatedCluster(index, nodes || USUAL_NODES);
  });
  const isSmall = nodes === 0 && clusters <= SMALL_FLEET.length;
  return {
    plans,
    provider: isSmall ? WINNER : undefined,
    hasGpus: plans.some((plan) => plan.nodes.some(({ gpus }) => gpus !== undefined)),
  };
}

const node = (cpu: string, memory: string, region: string) => ({ cpu, memory, region });
const pods = (count: number, cpu: string, memory: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `app-${index + 1}`, cpu, memory }));

/** The cluster that is short. */
export const REQUESTER = "rome";
/** The one that lends best: it has the most room left, at the lowest price. */
export const WINNER = "paris";

/** Four clusters of different size, load, price and place; tokyo has GPUs. */
export const SMALL_FLEET: readonly ClusterPlan[] = [
  {
    name: REQUESTER,
    nodes: [node("4", "16Gi", "eu-south"), node("4", "16Gi", "eu-south")],
    pods: pods(7, "1", "4Gi"),
    flags: price("0.050", "0.006"),
  },
  {
    name: WINNER,
    nodes: [node("16", "64Gi", "eu-west"), node("16", "64Gi", "eu-west")],
    pods: pods(4, "1", "4Gi"),
    flags: price("0.032", "0.004"),
  },
  {
    name: "berlin",
    nodes: [
      node("8", "32Gi", "eu-central"),
      node("8", "32Gi", "eu-central"),
      node("8", "32Gi", "eu-central"),
    ],
    pods: pods(9, "1", "4Gi"),
    flags: price("0.041", "0.005"),
  },
  {
    name: "tokyo",
    nodes: [{ ...node("48", "192Gi", "ap-northeast"), gpus: { count: "4", model: "NVIDIA-L40S" } }],
    pods: pods(20, "1", "4Gi"),
    flags: price("0.055", "0.007", "1.90"),
  },
];

export const DEFAULT_CLUSTERS = SMALL_FLEET.length;

/** Flags of an agent that say what its cluster asks for one hour. */
function price(cpu: string, memory: string, gpu?: string): string[] {
  return [
    `--price-cpu=${cpu}`,
    `--price-memory=${memory}`,
    ...(gpu === undefined ? [] : [`--price-gpu=${gpu}`]),
    "--price-currency=EUR",
  ];
}

interface Place {
  readonly name: string;
  readonly region: string;
}

type NodePlan = ClusterPlan["nodes"][number];
type PodPlan = NonNullable<ClusterPlan["pods"]>[number];

const CITIES: Readonly<Record<string, readonly string[]>> = {
  "eu-south": ["rome", "madrid", "lisbon", "athens", "turin", "naples", "porto", "malta"],
  "eu-west": ["paris", "london", "dublin", "brussels", "lyon", "bristol", "ghent", "cork"],
  "eu-central": ["berlin", "vienna", "zurich", "prague", "munich", "warsaw", "graz", "basel"],
  "ap-northeast": ["tokyo", "osaka", "seoul", "taipei", "kyoto", "busan", "nagoya", "kobe"],
  "us-east": ["boston", "montreal", "atlanta", "toronto", "miami", "richmond", "albany", "quebec"],
  "us-west": ["seattle", "denver", "phoenix", "oakland", "portland", "tucson", "reno", "fresno"],
  "sa-east": ["lima", "bogota", "quito", "recife", "santos", "natal", "cusco", "salta"],
};

/** From every region in turn, beginning with the four that a small fleet has. */
const PLACES: readonly Place[] = Array.from({ length: 8 }, (_, round) =>
  Object.entries(CITIES).flatMap(([region, names]) => {
    const name = names[round];
    return name === undefined ? [] : [{ name, region }];
  }),
).flat();

export const MOST_CLUSTERS = PLACES.length;

const SHAPES = [
  { cpu: 8, memoryGi: 32 },
  { cpu: 16, memoryGi: 64 },
  { cpu: 32, memoryGi: 256 },
  { cpu: 48, memoryGi: 192 },
  { cpu: 4, memoryGi: 16 },
] as const;

const GPUS = ["NVIDIA-L40S", "NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-PCIE"];
/** One cluster in so many has GPUs, and there one node in so many. */
const GPU_EVERY = 4;
const GPUS_EACH = 4;
/** So many pods would fill a node. */
const PODS_PER_NODE = 4;

/** The cluster at a place in a fleet: of its own size, load, price and region, and the same one each time. */
function generatedCluster(index: number, nodeCount: number): ClusterPlan {
  const { name, region } = PLACES[index % PLACES.length] ?? { name: `cluster-${index}`, region: "eu-west" };
  const hasGpus = index % GPU_EVERY === GPU_EVERY - 1;
  const nodes = Array.from({ length: nodeCount }, (_, number) => {
    const { cpu, memoryGi } = shapeOf(index, number);
    const node: NodePlan = { cpu: String(cpu), memory: `${memoryGi}Gi`, region };
    return hasGpus && number % GPU_EVERY === 0 ? { ...node, gpus: gpusOf(index) } : node;
  });
  return { name, nodes, pods: podsOf(index, nodeCount), flags: priceOf(index, hasGpus) };
}

/** Mostly one kind of machine, as people buy them, and now and then another. */
function shapeOf(index: number, number: number): (typeof SHAPES)[number] {
  const usual = index % SHAPES.length;
  const isOdd = number % 5 === 4;
  return SHAPES[(usual + (isOdd ? 1 : 0)) % SHAPES.length] ?? SHAPES[0];
}

function gpusOf(index: number): NonNullable<NodePlan["gpus"]> {
  return { count: String(GPUS_EACH), model: GPUS[index % GPUS.length] ?? "NVIDIA-L40S" };
}

/** The first cluster is short of room; the others are loaded lightly, half or well. */
function podsOf(index: number, nodeCount: number): PodPlan[] {
  return Array.from({ length: nodeCount }, (_, number) => {
    const { cpu, memoryGi } = shapeOf(index, number);
    const usual = (index % (PODS_PER_NODE - 1)) + (number % 2);
    // One node of the first has room for a pod: a cluster without any room would look broken.
    const short = number === 0 ? PODS_PER_NODE - 1 : PODS_PER_NODE;
    const count = index === 0 ? short : usual;
    return Array.from({ length: count }, (__, pod) => ({
      name: `app-${number + 1}-${pod + 1}`,
      cpu: `${(cpu * 1000) / PODS_PER_NODE}m`,
      memory: `${(memoryGi * 1024) / PODS_PER_NODE}Mi`,
    }));
  }).flat();
}

function priceOf(index: number, hasGpus: boolean): string[] {
  const cpu = 0.028 + ((index * 7) % 13) * 0.003;
  return price(
    cpu.toFixed(3),
    (cpu / 8).toFixed(4),
    hasGpus ? (1.2 + (index % 5) * 0.35).toFixed(2) : undefined,
  );
}
