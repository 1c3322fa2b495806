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

export const SAMPLE_CLUSTERS: readonly SampleCluster[] = [
  {
    id: "amsterdam",
    name: "Amsterdam edge",
    region: "eu-west",
    cpu: 96,
    memoryGi: 384,
    busy: 0.35,
    cpuPrice: "0.041",
  },
  { id: "athens", name: "Athens", region: "eu-south", cpu: 32, memoryGi: 128, busy: 0.7, cpuPrice: "0.029" },
  {
    id: "berlin",
    name: "Berlin research",
    region: "eu-central",
    cpu: 128,
    memoryGi: 512,
    gpus: { model: A100, count: 8 },
    busy: 0.4,
    cpuPrice: "0.044",
  },
  { id: "dublin", name: "Dublin", region: "eu-west", cpu: 64, memoryGi: 256, busy: 0.5, cpuPrice: "0.038" },
  {
    id: "frankfurt",
    name: "Frankfurt core",
    region: "eu-central",
    cpu: 256,
    memoryGi: 1024,
    gpus: { model: H100, count: 16 },
    busy: 0.3,
    cpuPrice: "0.047",
  },
  { id: "lisbon", name: "Lisbon", region: "eu-south", cpu: 48, memoryGi: 192, busy: 0.25, cpuPrice: "0.031" },
  {
    id: "london",
    name: "London trading",
    region: "eu-west",
    cpu: 192,
    memoryGi: 768,
    busy: 0.86,
    cpuPrice: "0.062",
  },
  {
    id: "madrid",
    name: "Madrid",
    region: "eu-south",
    cpu: 64,
    memoryGi: 256,
    gpus: { model: L40, count: 4 },
    busy: 0.45,
    cpuPrice: "0.033",
  },
  {
    id: "milan",
    name: "Milan fashion AI",
    region: "eu-south",
    cpu: 40,
    memoryGi: 160,
    busy: 0.9,
    cpuPrice: null,
  },
  {
    id: "montreal",
    name: "Montréal",
    region: "ca-east",
    cpu: 96,
    memoryGi: 512,
    gpus: { model: A100, count: 4 },
    busy: 0.2,
    cpuPrice: "0.027",
  },
  {
    id: "oslo",
    name: "Oslo hydro",
    region: "eu-north",
    cpu: 160,
    memoryGi: 640,
    gpus: { model: H100, count: 8 },
    busy: 0.15,
    cpuPrice: "0.022",
  },
  {
    id: "paris",
    name: "Paris",
    region: "eu-west",
    cpu: 128,
    memoryGi: 512,
    gpus: { model: A100, count: 8 },
    busy: 0.4,
    cpuPrice: "0.045",
  },
  {
    id: "prague",
    name: "Prague",
    region: "eu-central",
    cpu: 48,
    memoryGi: 192,
    busy: 0.55,
    cpuPrice: "0.026",
  },
  { id: "rome", name: "Rome", region: "eu-south", cpu: 32, memoryGi: 128, busy: 0.95, cpuPrice: "0.036" },
  {
    id: "stockholm",
    name: "Stockholm",
    region: "eu-north",
    cpu: 96,
    memoryGi: 384,
    busy: 0.3,
    cpuPrice: "0.024",
  },
  {
    id: "vienna",
    name: "Vienna",
    region: "eu-central",
    cpu: 56,
    memoryGi: 224,
    busy: 0.5,
    cpuPrice: "0.034",
  },
  {
    id: "warsaw",
    name: "Warsaw",
    region: "eu-central",
    cpu: 80,
    memoryGi: 320,
    gpus: { model: L40, count: 8 },
    busy: 0.35,
    cpuPrice: "0.025",
  },
  {
    id: "zurich",
    name: "Zürich",
    region: "eu-central",
    cpu: 72,
    memoryGi: 288,
    busy: 0.6,
    cpuPrice: "0.071",
  },
];
