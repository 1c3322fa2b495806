/** A made-up cluster. */
export interface SampleCluster {
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly cpu: number;
  readonly memoryGi: number;
  readonly gpus?: { readonly model: string; readonly count: number };
  /** Of what there is, used by the cluster itself. */
  readonly busy: number;
  readonly cpuPrice: string | null;
}

export const H100 = "NVIDIA-H100-80GB";
export const A100 = "NVIDIA-A100-40GB";
const L40 = "NVIDIA-L40S";
/** Has huge pages, too. */
export const WITH_HUGE_PAGES = "oslo";

type Row = readonly [
  name: string,
  region: string,
  cpu: number,
  busy: number,
  cpuPrice: string | null,
  gpus?: readonly [count: number, model: string],
];

const ROWS: Readonly<Record<string, Row>> = {
  amsterdam: ["Amsterdam edge", "eu-west", 96, 0.35, "0.041"],
  athens: ["Athens", "eu-south", 32, 0.7, "0.029"],
  berlin: ["Berlin research", "eu-central", 128, 0.4, "0.044", [8, A100]],
  dublin: ["Dublin", "eu-west", 64, 0.5, "0.038"],
  frankfurt: ["Frankfurt core", "eu-central", 256, 0.3, "0.047", [16, H100]],
  lisbon: ["Lisbon", "eu-south", 48, 0.25, "0.031"],
  london: ["London trading", "eu-west", 192, 0.86, "0.062"],
  madrid: ["Madrid", "eu-south", 64, 0.45, "0.033", [4, L40]],
  milan: ["Milan fashion AI", "eu-south", 40, 0.9, null],
  montreal: ["Montréal", "ca-east", 96, 0.2, "0.027", [4, A100]],
  oslo: ["Oslo hydro", "eu-north", 160, 0.15, "0.022", [8, H100]],
  paris: ["Paris", "eu-west", 128, 0.4, "0.045", [8, A100]],
  prague: ["Prague", "eu-central", 48, 0.55, "0.026"],
  rome: ["Rome", "eu-south", 32, 0.95, "0.036"],
  stockholm: ["Stockholm", "eu-north", 96, 0.3, "0.024"],
  vienna: ["Vienna", "eu-central", 56, 0.5, "0.034"],
  warsaw: ["Warsaw", "eu-central", 80, 0.35, "0.025", [8, L40]],
  zurich: ["Zürich", "eu-central", 72, 0.6, "0.071"],
};

export const SAMPLE_CLUSTERS: readonly SampleCluster[] = Object.entries(ROWS).map(([id, row]) => {
  const [name, region, cpu, busy, cpuPrice, gpus] = row;
  const devices = gpus === undefined ? {} : { gpus: { count: gpus[0], model: gpus[1] } };
  return { id, name, region, cpu, memoryGi: cpu * 4, busy, cpuPrice, ...devices };
});
