export type { LiveReservation } from "./classify-pod.ts";
export { type ClusterSums, type ClusterTotals, clusterSums } from "./cluster-sums.ts";
export { parseToleratedTaint, type ToleratedTaint } from "./counted-node.ts";
export { type CountedResources, countedResources, DEFAULT_COUNTED_RESOURCES } from "./counted-resources.ts";
export { clusterLabels, gpuModels, NODE_LABELS, type NodeFacts, nodeFacts } from "./node.ts";
export { type GuestFacts, NO_DATA_PLANE, type NodeAccounting } from "./node-accounting.ts";
export { type PodFacts, podFacts, podKey, requiredTerms } from "./pod.ts";
