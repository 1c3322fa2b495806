import type { ClusterPlan } from "@resource-broker/testkit";

const priced = (cpu: string, memory: string): string[] => [
  `--price-cpu=${cpu}`,
  `--price-memory=${memory}`,
  "--price-currency=EUR",
];

/** rome is short; paris, berlin and tokyo could help, paris best of all. */
export const FLEET: readonly ClusterPlan[] = [
  {
    name: "rome",
    nodes: [{ cpu: "4", memory: "16Gi", region: "eu-south" }],
    pods: [{ name: "shop", cpu: "3500m", memory: "12Gi" }],
  },
  {
    name: "paris",
    nodes: [
      { cpu: "16", memory: "64Gi", region: "eu-west" },
      { cpu: "16", memory: "64Gi", region: "eu-west" },
    ],
    pods: [{ name: "mill", cpu: "2", memory: "8Gi" }],
    flags: priced("0.032", "0.004"),
  },
  {
    name: "berlin",
    nodes: [{ cpu: "16", memory: "64Gi", region: "eu-central" }],
    pods: [{ name: "mill", cpu: "4", memory: "16Gi" }],
    flags: priced("0.041", "0.005"),
  },
  {
    name: "tokyo",
    nodes: [{ cpu: "32", memory: "128Gi", region: "ap-northeast", gpus: { count: "4", model: "L40S" } }],
    pods: [{ name: "mill", cpu: "16", memory: "64Gi" }],
    flags: priced("0.055", "0.007"),
  },
];
