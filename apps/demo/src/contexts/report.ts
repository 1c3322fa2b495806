import type { CostDTO, ReservationCostDTO, ResourceQuantitiesDTO } from "@resource-broker/contract";

/** All that is found out, as `-o json` prints it. */
export interface Report {
  readonly clusters: readonly ClusterReport[];
  /** Pods that wait for a node, alike ones of one workload together, in the order in which the broker was asked. */
  readonly pending: readonly PendingReport[];
}

export type ClusterReport = UnreadableCluster | ReadableCluster;

export interface ClusterRef {
  /** Of the kubeconfig. */
  readonly context: string;
  /** What the broker calls it: the context's name, made fit for a cluster ID. */
  readonly clusterID: string;
  readonly server: string;
}

export interface UnreadableCluster extends ClusterRef {
  /** Why nothing is known of it, and the remedy. */
  readonly problem: string;
}

export interface ReadableCluster extends ClusterRef {
  readonly problem?: undefined;
  readonly nodes: number;
  /** Nodes whose capacity is not lent, and why: `3 not-ready`. */
  readonly uncounted: Readonly<Record<string, number>>;
  readonly allocatable: ResourceQuantitiesDTO;
  readonly allocated: ResourceQuantitiesDTO;
  /** What it could lend before anybody was asked. */
  readonly available: ResourceQuantitiesDTO;
  /** As the policy says. */
  readonly cost?: CostDTO;
}

/** Why pods wait. Only for `unschedulable` ones another cluster is asked. */
export type WaitingState = "unschedulable" | "gated" | "pinned" | "borrowing" | "unseen";

export interface PendingReport {
  readonly clusterID: string;
  readonly namespace: string;
  /** `ReplicaSet/web-7d9f`, or the pod itself. */
  readonly workload: string;
  readonly pods: number;
  /** What each of them requests. */
  readonly each: ResourceQuantitiesDTO;
  readonly state: WaitingState;
  /** What the scheduler says. */
  readonly why: string;
  readonly takenBy: readonly Placement[];
  /** Pods that no cluster takes. */
  readonly left: number;
  /** Pods for which nobody was asked, since there are too many. */
  readonly notAsked: number;
  /** The broker's words: who was compared, why each lost, what would flip it. */
  readonly decisions: readonly string[];
  /** What would turn the refusal of those that are left. */
  readonly flip?: string;
}

export interface Placement {
  readonly clusterID: string;
  readonly pods: number;
  /** For each of them. Absent: that cluster is not priced. */
  readonly cost?: ReservationCostDTO;
}
