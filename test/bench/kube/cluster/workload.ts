/** One workload of the imagined cluster: its pods differ in name, place and times only. */
export interface Workload {
  readonly name: string;
  readonly namespace: string;
  readonly hash: string;
  readonly containers: number;
  readonly hasSidecar: boolean;
  readonly requests: Readonly<Record<string, string>>;
  readonly variables: number;
}

const TEAMS = ["shop", "search", "billing", "ingest", "ml", "platform", "video", "maps", "ads", "mail"];
const ROLES = ["api", "worker", "cache", "gateway", "indexer", "scheduler", "web", "exporter"];
const CPUS = ["50m", "100m", "250m", "500m", "1", "1500m", "2", "4"];
const MEMORIES = ["64Mi", "128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi", "8Gi"];
const WORKLOADS = 1500;
const GPU_EVERY = 40;

/** Every `index` always gives the same workload. */
function workload(index: number): Workload {
  const pick = (from: readonly string[], step: number): string =>
    from[Math.floor(index / step) % from.length] ?? "";
  return {
    name: `${pick(TEAMS, 1)}-${pick(ROLES, 3)}-${index}`,
    namespace: `${pick(TEAMS, 1)}-${index % 7 === 0 ? "staging" : "production"}`,
    hash: ((index + 1) * 2_654_435_761).toString(36).slice(-10).padStart(10, "x"),
    containers: index % 10 === 0 ? 2 : 1,
    hasSidecar: index % 19 === 0,
    requests: {
      cpu: pick(CPUS, 2),
      memory: pick(MEMORIES, 5),
      ...(index % GPU_EVERY === 0 ? { "nvidia.com/gpu": "1" } : {}),
    },
    variables: index % 6,
  };
}

const workloads: readonly Workload[] = Array.from({ length: WORKLOADS }, (_, index) => workload(index));

export function workloadOf(pod: number): Workload {
  return workloads[(pod * 7919) % WORKLOADS] ?? workload(0);
}
