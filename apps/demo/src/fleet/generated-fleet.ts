import type { ClusterPlan } from "@resource-broker/testkit";
import { price } from "./price.ts";

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
export function generatedCluster(index: number, nodeCount: number): ClusterPlan {
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
