import type { ClusterPlan } from "@resource-broker/testkit";
import { price } from "./price.ts";

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
